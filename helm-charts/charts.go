// Package charts embeds the Helm chart of Darkroom, so that the operator and its template command contain it.
package charts

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/ignore"
)

const darkroomDir = "darkroom"

// "all:" includes templates whose names start with "_".
//
//go:embed all:darkroom
var embedded embed.FS

// Darkroom returns the embedded chart: the same files in the same order as loader.Load returns them for the chart's
// directory, except files in .helmignore. Each call returns a new chart, because Helm modifies charts while it renders
// them. An error means that the program was built from a broken chart.
func Darkroom() (*chart.Chart, error) {
	loaded, err := load(embedded, darkroomDir)
	if err != nil {
		return nil, fmt.Errorf("load embedded chart %s: %w", darkroomDir, err)
	}
	return loaded, nil
}

// load loads a chart from a file system like Helm's loader from a directory.
func load(files fs.FS, root string) (*chart.Chart, error) {
	rules, err := ignoreRules(files, root)
	if err != nil {
		return nil, err
	}
	var buffered []*loader.BufferedFile
	err = fs.WalkDir(files, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == root {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		inChart := strings.TrimPrefix(name, root+"/")
		if rules.Ignore(inChart, info) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entry.IsDir() {
			return nil
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		buffered = append(buffered, &loader.BufferedFile{Name: inChart, Data: data})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return loader.LoadFiles(buffered)
}

// ignoreRules reads .helmignore, to which Helm adds its own rules.
func ignoreRules(files fs.FS, root string) (*ignore.Rules, error) {
	data, err := fs.ReadFile(files, path.Join(root, ignore.HelmIgnore))
	if err != nil {
		return nil, err
	}
	rules, err := ignore.Parse(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", ignore.HelmIgnore, err)
	}
	rules.AddDefaults()
	return rules, nil
}
