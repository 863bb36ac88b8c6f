package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lock makes sure that one process at a time builds into BinDir.
func (b *Builder) lock(ctx context.Context) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(b.BinDir, ".stamps", "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the build lock: %w", err)
	}
	unlock = func() { file.Close() } // closing releases the lock
	// Said after a second: most waits are for another's check, not its build.
	said := time.Now().Add(time.Second - heartbeat)
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return unlock, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			unlock()
			return nil, fmt.Errorf("lock %s: %w", file.Name(), err)
		}
		if time.Since(said) >= heartbeat {
			said = time.Now()
			fmt.Fprintf(b.Out, "another process is building into %s; waiting for it\n", b.BinDir)
		}
		select {
		case <-ctx.Done():
			unlock()
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}
