package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Spec describes how to run a program.
type Spec struct {
	// Name is the component's name; its log is <Name>.log.
	Name string
	// Path of the program, and its arguments without the program's name.
	Path string
	Args []string
	// Env is added to the environment.
	Env []string
	// LogDir is where the log goes.
	LogDir string
}

// LogPath is the file the program's output is appended to.
func (s Spec) LogPath() string { return filepath.Join(s.LogDir, s.Name+".log") }

// Process is a started program.
type Process struct {
	Spec
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// Start starts the program.
func Start(spec Spec) (*Process, error) {
	log, err := os.OpenFile(spec.LogPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", spec.Name, err)
	}
	defer log.Close()

	cmd := exec.Command(spec.Path, spec.Args...)
	cmd.Env = append(withoutProxies(os.Environ()), spec.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // away from a terminal's Ctrl-C
	if err := StartTied(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	p := &Process{Spec: spec, cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns how the program ended; nil before that and after a clean exit.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// Stop asks the program to end and, after the grace period, makes it.
func (p *Process) Stop(grace time.Duration) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", p.Name, err)
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(grace):
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.Name, err)
	}
	<-p.done
	return nil
}

// Ended describes a program that ended unasked, with the tail of its log.
func (p *Process) Ended() error {
	how := "it exited with code 0"
	if err := p.Err(); err != nil {
		how = err.Error()
	}
	return fmt.Errorf("%s ended unexpectedly: %s\nlast lines of %s:\n%s", p.Name, how, p.LogPath(), Tail(p.LogPath(), 20))
}

// withoutProxies drops the settings of HTTP proxies: a cluster's programs talk
// only to each other, and no proxy would find a pod.
func withoutProxies(env []string) []string {
	return slices.DeleteFunc(env, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains([]string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}, strings.ToUpper(name))
	})
}

// StartTied starts cmd so that it dies with this process, where the kernel
// can do that.
func StartTied(cmd *exec.Cmd) error {
	dieWithParent(cmd.SysProcAttr)
	return onSpawner(cmd.Start)
}

var (
	spawner      = make(chan func())
	startSpawner sync.Once
)

// onSpawner runs start on one thread that lives as long as this process.
// "Die with the parent" means, to the kernel, with the thread that started
// the child; an ordinary goroutine's thread may end at any time.
func onSpawner(start func() error) error {
	startSpawner.Do(func() {
		go func() {
			runtime.LockOSThread()
			for run := range spawner {
				run()
			}
		}()
	})
	result := make(chan error)
	spawner <- func() { result <- start() }
	return <-result
}

// Tail returns the last n lines of a file, or why it cannot be read.
func Tail(path string, n int) string {
	const most = 64 * 1024
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err.Error()
	}
	data := make([]byte, min(info.Size(), most))
	if _, err := file.ReadAt(data, info.Size()-int64(len(data))); err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
