package cmd

import (
	"errors"
	"flag"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/image"
)

// imageFlags describe an image to pack.
type imageFlags struct {
	config              v1.Config
	program, entrypoint string
	command             string
	files               []image.File
}

func (f *imageFlags) add(flags *flag.FlagSet) {
	flags.StringVar(&f.config.User, "user", "65532", "user (and :group) that the container runs as")
	flags.StringVar(&f.config.WorkingDir, "workdir", "/", "working directory of the container")
	flags.StringVar(&f.program, "path", "",
		"path of the program in the image (default: its name, in the working directory)")
	flags.StringVar(&f.entrypoint, "entrypoint", "", "words of the entrypoint, separated by spaces (default: the program)")
	flags.StringVar(&f.command, "command", "", "words of the arguments of a container that sets none")
	const usage = "another file, or a folder with all its files, as PATH-IN-IMAGE=FILE (can be repeated)"
	flags.Func("file", usage, func(argument string) error {
		target, source, ok := strings.Cut(argument, "=")
		if !ok || source == "" {
			return errors.New("not PATH-IN-IMAGE=FILE")
		}
		f.files = append(f.files, image.File{Path: target, Source: source})
		return nil
	})
}

// pack writes the image described by an argument NAME=BINARY into an archive.
func (f *imageFlags) pack(argument, archive string) error {
	name, program, ok := strings.Cut(argument, "=")
	if !ok {
		return fmt.Errorf("%q is not NAME=BINARY", argument)
	}
	if err := image.CheckStatic(program); err != nil {
		return err
	}
	target := f.program
	if target == "" {
		target = path.Join(f.config.WorkingDir, filepath.Base(program))
	}
	config := f.config
	config.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin:/"}
	config.Entrypoint, config.Cmd = strings.Fields(f.entrypoint), strings.Fields(f.command)
	if len(config.Entrypoint) == 0 {
		config.Entrypoint = []string{target}
	}
	packed, err := image.Build(append([]image.File{{Path: target, Source: program}}, f.files...), config)
	if err != nil {
		return fmt.Errorf("pack image %s: %w", name, err)
	}
	return image.Save(archive, name, packed)
}

func runImage(flags *flag.FlagSet, args []string) error {
	var f imageFlags
	f.add(flags)
	output := flags.String("output", "", "archive to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || *output == "" {
		return errors.New("cluster image needs --output and one NAME=BINARY")
	}
	return f.pack(flags.Arg(0), *output)
}
