package render

import (
	"debug/elf"
	"os"
	"sync"
)

// buildID is Go's identity of this program: it differs for any other code. It is empty
// where programs are not in the format ELF, and if the linker was told to leave it out.
var buildID = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	program, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = program.Close() }()
	note := program.Section(".note.go.buildid")
	if note == nil {
		return ""
	}
	id, err := note.Data()
	if err != nil {
		return ""
	}
	return string(id)
})
