//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/jpeg" // the formats
	_ "image/png"  // of images
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

const (
	// imagePath is that of the same image in both sources.
	imagePath = "/images/sample.jpg"
	// The image's own size in pixels.
	imageWidth, imageHeight = 1200, 800
	// requestPatience is for how long one request may take.
	requestPatience = 10 * time.Second
)

// front is a client of the ingress controller and of the Gateways.
var front = &http.Client{
	Timeout: requestPatience,
	// Redirects are findings, not errands.
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// throughIngress requests a path of a host from the ingress controller.
func throughIngress(ctx context.Context, host, path string) (status int, body []byte, err error) {
	return through(ctx, ingressURL, host, path)
}

// throughGateway requests a path of a host from the Gateways.
func throughGateway(ctx context.Context, host, path string) (status int, body []byte, err error) {
	return through(ctx, gatewayURL, host, path)
}

// through requests a path of a host from the server at a URL.
func through(ctx context.Context, url, host, path string) (status int, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+path, nil)
	if err != nil {
		return 0, nil, err
	}
	request.Host = host
	response, err := front.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	return response.StatusCode, body, err
}

// throughService asks the Service of a Darkroom by way of the API server.
func throughService(ctx context.Context, darkroom *v1alpha1.Darkroom, path string, params map[string]string) ([]byte, error) {
	return clientset.CoreV1().Services(darkroom.Namespace).ProxyGet("http", darkroom.Name, "http", path, params).DoRaw(ctx)
}

// serves returns an error unless a host answers through the Ingress with the image at a
// width; 0 means the original.
func serves(ctx context.Context, host string, width int) error {
	return servesThrough(ctx, ingressURL, host, width)
}

// servesThrough is serves for requests to the server at a URL.
func servesThrough(ctx context.Context, url, host string, width int) error {
	path := imagePath
	if width > 0 {
		path += "?w=" + strconv.Itoa(width)
	}
	status, body, err := through(ctx, url, host, path)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("%s%s answers %d: %.200q", host, path, status, body)
	}
	return isImage(body, width)
}

// isImage returns an error unless data is the image at a width.
func isImage(data []byte, width int) error {
	if width == 0 {
		width = imageWidth
		config, _, err := image.DecodeConfig(bytes.NewReader(data)) // spares the load test the pixels
		if err == nil && (config.Width != width || config.Height != imageHeight) {
			err = fmt.Errorf("the image has %d × %d pixels", config.Width, config.Height)
		}
		return err
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("decode %.40q: %w", data, err)
	}
	if size, height := img.Bounds().Size(), width*imageHeight/imageWidth; size.X != width || size.Y != height {
		return fmt.Errorf("the image has %s pixels, not (%d,%d)", size, width, height)
	}
	return nil
}

// waitServing waits until each of a Darkroom's hosts serves a resized image
// through the Ingress.
func waitServing(t *testing.T, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	waitServingThrough(t, ingressURL, darkroom)
}

// waitServingThrough is waitServing for requests to the server at a URL.
func waitServingThrough(t *testing.T, url string, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	for _, subDomain := range darkroom.Spec.SubDomains {
		host := subDomain + "." + baseDomain
		eventually(t, host+" serves at "+url, func(ctx context.Context) error { return servesThrough(ctx, url, host, 90) })
	}
}

// waitStatus waits until a host answers a request for a resized image with a
// status.
func waitStatus(t *testing.T, host string, want int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s answers %d", host, want), func(ctx context.Context) error {
		status, body, err := throughIngress(ctx, host, imagePath+"?w=90")
		if err == nil && status != want {
			err = fmt.Errorf("it answers %d: %.200q", status, body)
		}
		return err
	})
}
