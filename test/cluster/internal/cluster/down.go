package cluster

// Down stops the cluster in dir and clears what it, or one that was killed
// there, has left. It reports whether there was one running. The logs stay.
func Down(dir string) (bool, error) {
	layout := Layout{dir}
	running, err := isLocked(layout.lock())
	if err != nil {
		return false, err
	}
	if running {
		if err := end(layout); err != nil {
			return true, err
		}
	}
	return running, sweep(layout, false)
}

// sweep clears what a cluster that no longer runs has left: its files, and
// what a real node changed on the machine.
func sweep(layout Layout, logsToo bool) error {
	if err := sweepMachine(); err != nil {
		return err
	}
	return layout.clear(logsToo)
}
