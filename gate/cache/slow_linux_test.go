package cache

import (
	"os"
	"syscall"
	"testing"
)

// The file is a pipe, whose content the test writes later.
func TestAnEntryThatIsRemovedWhileItIsReadDoesNotReturn(t *testing.T) {
	c, _ := open(t, t.TempDir(), 1<<20, 1<<20)
	if err := store(c, "/a?", entry(100)); err != nil {
		t.Fatal(err)
	}
	path := c.disk.path(nameOf("/a?"))
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan *Entry)
	go func() { read <- c.Get("/a?") }()
	pipe, err := os.OpenFile(path, os.O_WRONLY, 0) // waits until it is read
	if err != nil {
		t.Fatal(err)
	}
	c.Remove("/a?")
	if _, err := pipe.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := pipe.Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got == nil {
		t.Error("the file was not read")
	}
	if got := c.Get("/a?"); got != nil {
		t.Error("an entry that had been removed is back")
	}
}
