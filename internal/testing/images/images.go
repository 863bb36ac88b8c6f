// Package images runs image sources on a real node, and requests images from Darkrooms.
package images

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
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

const (
	// SourcesImage is the container image of test/standins/sources.
	SourcesImage = "docker.io/darkroom-e2e/sources:v1"
	// DarkroomImage is the default container image of the chart. Tests build it from test/standins/darkroom.
	DarkroomImage = "docker.io/gojektech/darkroom:v0.4.2"

	// Path is the path of the test image in all sources.
	Path = "/images/sample.jpg"
	// The original size in pixels.
	width, height = 1200, 800

	// Patience is the maximum duration of a request.
	Patience = 10 * time.Second
)

// SourcePod returns a pod of a source, webfolder or s3, at a port and with additional arguments.
func SourcePod(namespace, name, kind string, port int32, args ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken: ptr.To(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](65532),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "source", Image: SourcesImage, ImagePullPolicy: corev1.PullIfNotPresent,
				Args: append([]string{kind, "--addr", fmt.Sprintf(":%d", port)}, args...),
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
					Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
				ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{
					HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(port)},
				}},
			}},
		},
	}
}

// IsReady reports whether a pod is ready.
func IsReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// Client does not follow redirects, because tests check the redirects themselves.
var Client = &http.Client{
	Timeout:       Patience,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Get requests a path of a host from the server at a URL.
func Get(ctx context.Context, url, host, path string) (status int, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+path, nil)
	if err != nil {
		return 0, nil, err
	}
	request.Host = host
	response, err := Client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	return response.StatusCode, body, err
}

// Served returns an error unless the server at a URL serves the image of a host with a width; 0 means the original.
func Served(ctx context.Context, url, host string, width int) error {
	path := Path
	if width > 0 {
		path += "?w=" + strconv.Itoa(width)
	}
	status, body, err := Get(ctx, url, host, path)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("%s%s: got status %d: %.200q", host, path, status, body)
	}
	return Check(body, width)
}

// Check returns an error unless data is the image with a width; 0 means the original.
func Check(data []byte, want int) error {
	if want == 0 {
		config, _, err := image.DecodeConfig(bytes.NewReader(data)) // cheaper than decoding all pixels
		if err == nil && (config.Width != width || config.Height != height) {
			err = fmt.Errorf("the image has %d × %d pixels", config.Width, config.Height)
		}
		return err
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("decode %.40q: %w", data, err)
	}
	// Darkroom truncates a fractional height, and the gate rounds it.
	least, rounded := want*height/width, (want*height+width/2)/width
	if size := img.Bounds().Size(); size.X != want || size.Y != least && size.Y != rounded {
		return fmt.Errorf("the image has %s pixels, not (%d,%d)", size, want, rounded)
	}
	return nil
}
