package docs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // the format of the image
	"net/http"
	"os"
	"path/filepath"
	"regexp"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/images"
)

// push makes an image available to the cluster under its name, as a registry would.
func push(ctx context.Context, e *environment) error {
	_, err := e.command(ctx, "", filepath.Join(e.bin, "cluster"), "load", filepath.Join(e.bin, "image.tar"))
	return err
}

// manifest is the Darkroom in the README.
func (e *environment) manifest() (string, error) {
	blocks, err := find(e.blocks, readme+"#A Darkroom explained/1")
	if err != nil {
		return "", err
	}
	return blocks[0].text, nil
}

func writeManifest(_ context.Context, e *environment) error {
	text, err := e.manifest()
	return errors.Join(err, os.WriteFile(filepath.Join(e.checkout, "darkroom.yaml"), []byte(text), 0o600))
}

var sourceLine = regexp.MustCompile(`(?m)^.*baseUrl:.*\n`)

// writeBadManifest writes a manifest without the location of the images.
func writeBadManifest(_ context.Context, e *environment) error {
	text, err := e.manifest()
	bad := sourceLine.ReplaceAllLiteralString(text, "")
	return errors.Join(err, os.WriteFile(filepath.Join(e.checkout, "bad.yaml"), []byte(bad), 0o600))
}

// applyReadme applies the README's Darkroom. The first Darkroom, which holds its host, must be gone.
func applyReadme(ctx context.Context, e *environment) error {
	text, err := e.manifest()
	if err == nil {
		_, err = e.command(ctx, text, "kubectl", "apply", "--filename=-")
	}
	if err == nil {
		_, err = e.kubectl(ctx, "wait", "darkroom/photos", "--for=condition=Ready", "--timeout=2m")
	}
	return err
}

// hostServes requests an image at the host of the first Darkroom through the Ingress.
func hostServes(ctx context.Context, e *environment) error {
	return until(ctx, "the host serves", func(ctx context.Context) error {
		host, err := e.kubectl(ctx, "--namespace=photos", "get", "darkroom", "photos",
			"--output=jsonpath={.status.domains[0]}")
		if err != nil {
			return err
		}
		status, body, err := images.Get(ctx, os.Getenv("INGRESS_URL"), host, "/cat.jpg?w=300")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("%s: got status %d", host, status)
		}
		return errors.Join(err, isSmall(body))
	})
}

// catIsSmall checks the downloaded image.
func catIsSmall(_ context.Context, e *environment) error {
	body, err := os.ReadFile(filepath.Join(e.checkout, "cat.jpg"))
	return errors.Join(err, isSmall(body))
}

// isSmall returns an error unless an image is 300 pixels wide.
func isSmall(body []byte) error {
	decoded, _, err := image.DecodeConfig(bytes.NewReader(body))
	if err == nil && decoded.Width != 300 {
		err = fmt.Errorf("the image is %d pixels wide", decoded.Width)
	}
	return err
}

// removeOperator removes only the operator, which no document recommends.
func removeOperator(ctx context.Context, e *environment) error {
	for _, args := range [][]string{
		{"delete", "namespace", "darkroom-system"},
		{
			"delete", "clusterrole,clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding",
			"--selector=app.kubernetes.io/name=darkroom-operator",
		},
	} {
		if _, err := e.kubectl(ctx, args...); err != nil {
			return err
		}
	}
	_, err := e.shell.run(ctx, "NAMESPACE=photos NAME=photos")
	return err
}

// removePhotos removes the namespace that the documents' Darkrooms are in.
func removePhotos(ctx context.Context, e *environment) error {
	_, err := e.kubectl(ctx, "delete", "namespace", "photos")
	return err
}
