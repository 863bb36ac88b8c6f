package docs

import (
	"context"
	"fmt"
	"image"
	_ "image/jpeg" // the format of the image
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// push makes an image available to the cluster under its name, as a registry would.
func push(ctx context.Context, s *Environment) error {
	_, err := s.command(ctx, "", filepath.Join(s.Bin, "cluster"), "load", filepath.Join(s.Bin, "image.tar"))
	return err
}

// manifest is the Darkroom that the README explains.
func (s *Environment) manifest() (string, error) {
	blocks, err := find(s.blocks, readme+"#A Darkroom explained/1")
	if err != nil {
		return "", err
	}
	return blocks[0].Text, nil
}

func writeManifest(_ context.Context, s *Environment) error {
	text, err := s.manifest()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.Checkout, "darkroom.yaml"), []byte(text), 0o600)
}

// writeBadManifest leaves out where the images are.
func writeBadManifest(_ context.Context, s *Environment) error {
	text, err := s.manifest()
	if err != nil {
		return err
	}
	var bad strings.Builder
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "baseUrl:") {
			bad.WriteString(line)
		}
	}
	return os.WriteFile(filepath.Join(s.Checkout, "bad.yaml"), []byte(bad.String()), 0o600)
}

// applyReadme applies the README's Darkroom, which wants the host of the first Darkroom:
// that one must have gone.
func applyReadme(ctx context.Context, s *Environment) error {
	text, err := s.manifest()
	if err == nil {
		_, err = s.command(ctx, text, "kubectl", "apply", "--filename=-")
	}
	if err == nil {
		_, err = s.kubectl(ctx, "wait", "darkroom/photos", "--for=condition=Ready", "--timeout=2m")
	}
	return err
}

// hostServes asks for an image at the host of the first Darkroom, through the Ingress.
func hostServes(ctx context.Context, s *Environment) error {
	return until(ctx, "the host serves", func(ctx context.Context) error {
		host, err := s.kubectl(ctx, "--namespace=photos", "get", "darkroom", "photos", "--output=jsonpath={.status.domains[0]}")
		if err != nil {
			return err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, os.Getenv("INGRESS_URL")+"/cat.jpg?w=300", nil)
		if err != nil {
			return err
		}
		request.Host = host
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", host, response.Status)
		}
		return isSmall(response.Body)
	})
}

// catIsSmall checks the image that was fetched.
func catIsSmall(_ context.Context, s *Environment) error {
	file, err := os.Open(filepath.Join(s.Checkout, "cat.jpg"))
	if err != nil {
		return err
	}
	defer file.Close()
	return isSmall(file)
}

// isSmall returns an error unless an image is 300 pixels wide.
func isSmall(img io.Reader) error {
	decoded, _, err := image.DecodeConfig(img)
	if err == nil && decoded.Width != 300 {
		err = fmt.Errorf("the image is %d pixels wide", decoded.Width)
	}
	return err
}

// removeOperator removes the operator, and nothing else; which no document advises.
func removeOperator(ctx context.Context, s *Environment) error {
	for _, args := range [][]string{
		{"delete", "namespace", "darkroom-system"},
		{"delete", "clusterrole,clusterrolebinding", "--selector=app.kubernetes.io/name=darkroom-operator"},
	} {
		if _, err := s.kubectl(ctx, args...); err != nil {
			return err
		}
	}
	_, err := s.shell.run(ctx, "NAMESPACE=photos NAME=photos")
	return err
}

// removePhotos removes the namespace that the documents' Darkrooms are in.
func removePhotos(ctx context.Context, s *Environment) error {
	_, err := s.kubectl(ctx, "delete", "namespace", "photos")
	return err
}
