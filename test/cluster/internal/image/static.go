package image

import (
	"debug/elf"
	"fmt"
)

// CheckStatic returns an error if a program cannot run in an image FROM scratch.
// There, a program that needs a dynamic loader fails with a misleading "no such
// file".
func CheckStatic(program string) error {
	file, err := elf.Open(program)
	if err != nil {
		return fmt.Errorf("%s is not a Linux program: %w", program, err)
	}
	defer func() { _ = file.Close() }() // only read
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			return fmt.Errorf("%s is not static; build it with CGO_ENABLED=0", program)
		}
	}
	return nil
}
