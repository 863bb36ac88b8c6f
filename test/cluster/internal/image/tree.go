package image

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
)

// Tree returns all files of a folder, for a folder of the image.
func Tree(target, folder string) ([]File, error) {
	var files []File
	err := filepath.WalkDir(folder, func(source string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		below, err := filepath.Rel(folder, source)
		files = append(files, File{Path: path.Join(target, filepath.ToSlash(below)), Source: source})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", folder, err)
	}
	return files, nil
}
