package cmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/cluster"
	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/image"
)

// imageFlags describe an image to pack.
type imageFlags struct {
	user, workdir, path, entrypoint, command string

	files, trees pairFlag
}

func (f *imageFlags) add(flags *flag.FlagSet) {
	flags.StringVar(&f.user, "user", "65532", "user (and :group) the container runs as")
	flags.StringVar(&f.workdir, "workdir", "/", "working directory of the container")
	flags.StringVar(&f.path, "path", "", "where the program is in the image (default: its name, in the working directory)")
	flags.StringVar(&f.entrypoint, "entrypoint", "", "words of the entrypoint, separated by spaces (default: the program)")
	flags.StringVar(&f.command, "command", "", "words of the arguments that a container gets unless it names others")
	flags.Var(&f.files, "file", "another file, as PATH-IN-IMAGE=FILE (can be repeated)")
	flags.Var(&f.trees, "tree", "a folder with all its files, as PATH-IN-IMAGE=FOLDER (can be repeated)")
}

// image describes the image that an argument NAME=BINARY asks for.
func (f *imageFlags) image(argument string) (image.Image, error) {
	name, program, ok := strings.Cut(argument, "=")
	if !ok {
		return image.Image{}, fmt.Errorf("%q is not NAME=BINARY, such as docker.io/gojektech/darkroom:v0.4.2=bin/darkroom", argument)
	}
	target := f.path
	if target == "" {
		target = path.Join(f.workdir, filepath.Base(program))
	}
	entrypoint := strings.Fields(f.entrypoint)
	if len(entrypoint) == 0 {
		entrypoint = []string{target}
	}
	files := []image.File{{Path: target, Source: program}}
	for _, file := range f.files {
		files = append(files, image.File{Path: file.name, Source: file.value})
	}
	for _, tree := range f.trees {
		below, err := image.Tree(tree.name, tree.value)
		if err != nil {
			return image.Image{}, err
		}
		files = append(files, below...)
	}
	i := image.Image{
		Name: name, Files: files,
		Entrypoint: entrypoint, Command: strings.Fields(f.command), User: f.user, WorkingDir: f.workdir,
	}
	return i, i.Check()
}

// checkedImage is image, for a program that exists and is static.
func (f *imageFlags) checkedImage(argument string) (image.Image, error) {
	i, err := f.image(argument)
	if err != nil {
		return i, err
	}
	return i, image.CheckStatic(i.Files[0].Source)
}

// pairFlag is a flag NAME=VALUE that can be repeated.
type pairFlag []struct{ name, value string }

func (p *pairFlag) String() string { return "" }

func (p *pairFlag) Set(argument string) error {
	name, value, ok := strings.Cut(argument, "=")
	if !ok || value == "" {
		return errors.New("not NAME=VALUE")
	}
	*p = append(*p, struct{ name, value string }{name, value})
	return nil
}

const imageExample = `
For the Darkroom, whose container runs "./darkroom server":
  cluster %s --workdir /app %sdocker.io/gojektech/darkroom:v0.4.2=bin/darkroom
`

func imageCommand() command {
	return command{
		name:      "image",
		arguments: "[options] NAME=BINARY",
		summary:   "Pack a static program as an image, into a tar",
		help:      fmt.Sprintf(imageExample, "image", "--output darkroom.tar "),
		run: func(_ context.Context, flags *flag.FlagSet, args []string) error {
			var f imageFlags
			f.add(flags)
			output := flags.String("output", "", "tar to write (docker-archive)")
			if err := parse(flags, args); err != nil {
				return err
			}
			if flags.NArg() != 1 || *output == "" {
				return errors.New("cluster image needs --output and one NAME=BINARY")
			}
			i, err := f.checkedImage(flags.Arg(0))
			if err != nil {
				return err
			}
			return writeImage(i, *output)
		},
	}
}

func writeImage(i image.Image, output string) (err error) {
	file, err := os.Create(output)
	if err != nil {
		return fmt.Errorf("write image %s: %w", i.Name, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return i.Write(file)
}

func loadCommand() command {
	return command{
		name:      "load",
		arguments: "[options] NAME=BINARY|TAR ...",
		summary:   "Load images into the real node: static programs that are packed, or archives",
		help:      "Pods use them with imagePullPolicy IfNotPresent or Never.\n" + fmt.Sprintf(imageExample, "load", ""),
		run: func(ctx context.Context, flags *flag.FlagSet, args []string) error {
			var f imageFlags
			f.add(flags)
			dirFlag := flags.String("dir", os.Getenv("CLUSTER_DIR"), dirFlagHelp+"; CLUSTER_DIR sets it too")
			if err := parse(flags, args); err != nil {
				return err
			}
			if flags.NArg() == 0 {
				return errors.New("cluster load needs at least one NAME=BINARY or TAR")
			}
			dir, err := clusterDir(*dirFlag)
			if err != nil {
				return err
			}
			var images []image.Image
			var archives []string
			for _, argument := range flags.Args() {
				if strings.HasSuffix(argument, ".tar") && !strings.Contains(argument, "=") {
					archives = append(archives, argument)
					continue
				}
				i, err := f.checkedImage(argument)
				if err != nil {
					return err
				}
				images = append(images, i)
			}
			for _, i := range images {
				if err := cluster.Load(ctx, dir, i); err != nil {
					return err
				}
				fmt.Fprintf(os.Stderr, "loaded %s\n", i.Name)
			}
			for _, archive := range archives {
				name, err := cluster.LoadArchive(ctx, dir, archive)
				if err != nil {
					return err
				}
				fmt.Fprintf(os.Stderr, "loaded %s\n", name)
			}
			return nil
		},
	}
}
