package image

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"os"
)

// NameOf returns the name of the one image in a docker-archive.
func NameOf(archive string) (string, error) {
	file, err := os.Open(archive)
	if err != nil {
		return "", err
	}
	defer file.Close()
	for r := tar.NewReader(file); ; {
		header, err := r.Next()
		if err != nil {
			return "", fmt.Errorf("find manifest.json in %s: %w", archive, err)
		}
		if header.Name != "manifest.json" {
			continue
		}
		var manifests []manifest
		if err := json.NewDecoder(r).Decode(&manifests); err != nil {
			return "", fmt.Errorf("read manifest.json in %s: %w", archive, err)
		}
		if len(manifests) != 1 || len(manifests[0].RepoTags) != 1 {
			return "", fmt.Errorf("%s must hold one image with one name, but has %+v", archive, manifests)
		}
		return manifests[0].RepoTags[0], nil
	}
}
