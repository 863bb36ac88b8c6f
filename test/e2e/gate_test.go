//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// small are small resource requests for a gate. Many such pods fit on a node.
var small = &corev1.ResourceRequirements{Requests: corev1.ResourceList{
	corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi"),
}}

// newGated creates a Darkroom with a gate that reads from a web folder.
func newGated(t *testing.T, name, folderURL string, gate v1alpha1.Gate) *v1alpha1.Darkroom {
	t.Helper()
	darkroom := newDarkroom(newNamespace(t), name).
		Source(v1alpha1.Source{Type: v1alpha1.WebFolder, BaseURL: folderURL}).
		Spec(func(spec *v1alpha1.DarkroomSpec) { spec.Gate = &gate }).Obj()
	darkroom.Spec.Gate.Resources = small
	create(t, darkroom)
	waitSettled(t, darkroom)
	waitServing(t, darkroom)
	return darkroom
}

// answer is a response without its body.
type answer struct {
	status int
	header http.Header
	length int
}

// ask requests a path of a host from the ingress controller. Headers are alternating names and values.
func ask(t *testing.T, method, host, path string, headers ...string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, ingressURL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := front.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{response.StatusCode, response.Header, len(body)}
}

func TestAGateAnswersLikeAnImageServer(t *testing.T) {
	t.Parallel()
	darkroom := newGated(t, "gated", theSources.folderURL, v1alpha1.Gate{})
	host := hostOf(darkroom)

	first := ask(t, http.MethodGet, host, imagePath+"?w=120")
	etag := first.header.Get("ETag")
	if first.status != http.StatusOK || !strings.HasPrefix(etag, `"`) ||
		!strings.Contains(first.header.Get("Cache-Control"), "max-age=") {
		t.Errorf("an image: %d %v", first.status, first.header)
	}
	again := ask(t, http.MethodGet, host, imagePath+"?w=120", "If-None-Match", etag)
	if again.status != http.StatusNotModified {
		t.Errorf("an unchanged image: %d", again.status)
	}
	if head := ask(t, http.MethodHead, host, imagePath+"?w=120"); head.status != http.StatusOK || head.length != 0 ||
		head.header.Get("Content-Length") != strconv.Itoa(first.length) {
		t.Errorf("HEAD: %d %v", head.status, head.header)
	}
	part := ask(t, http.MethodGet, host, imagePath+"?w=120", "Range", "bytes=0-9")
	if part.status != http.StatusPartialContent || part.length != 10 {
		t.Errorf("a range: %d with %d bytes", part.status, part.length)
	}
	for path, want := range map[string]int{
		"/images/none.jpg": http.StatusNotFound,
		// Darkroom's own endpoint does not pass through the gate.
		"/metrics":               http.StatusNotFound,
		imagePath + "?blur=999":  http.StatusBadRequest,
		imagePath + "?preset=no": http.StatusBadRequest,
	} {
		kept := map[int]string{http.StatusNotFound: "public, max-age=5", http.StatusBadRequest: "no-store"}[want]
		got := ask(t, http.MethodGet, host, path)
		if got.status != want || got.header.Get("Cache-Control") != kept ||
			got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v, want %d and %q", path, got.status, got.header, want, kept)
		}
	}
	if text := gateMetrics(t, darkroom); !strings.Contains(text, `darkroom_gate_requests_total{cache="miss",code="200"}`) {
		t.Errorf("the gate's metrics: %s", text)
	}

	change(t, darkroom, func(d *v1alpha1.Darkroom) {
		d.Spec.Gate.Presets = map[string]v1alpha1.PresetParameters{"small": "w=90"}
		d.Spec.Gate.OnlyPresets = true
	})
	waitSettled(t, darkroom)
	if got := ask(t, http.MethodGet, host, imagePath+"?preset=small"); got.status != http.StatusOK {
		t.Errorf("a preset: %d", got.status)
	}
	if got := ask(t, http.MethodGet, host, imagePath+"?w=90"); got.status != http.StatusBadRequest {
		t.Errorf("a parameter beside presets: %d", got.status)
	}
}

// gateMetrics returns the metrics of the gate of the only pod.
func gateMetrics(t *testing.T, darkroom *v1alpha1.Darkroom) string {
	t.Helper()
	raw, err := clientset.CoreV1().Pods(darkroom.Namespace).
		ProxyGet("http", onlyPod(t, darkroom).Name, "3003", "/metrics", nil).DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func onlyPod(t *testing.T, darkroom *v1alpha1.Darkroom) corev1.Pod {
	t.Helper()
	pods, err := podsOf(t.Context(), darkroom)
	if err != nil || len(pods) != 1 {
		t.Fatalf("%d pods, want one: %v", len(pods), err)
	}
	return pods[0]
}

// kill kills the program of a container with SIGKILL.
func kill(t *testing.T, darkroom *v1alpha1.Darkroom, container string) {
	t.Helper()
	process := processOf(t, darkroom, container)
	if pid, err := strconv.Atoi(filepath.Base(process)); err != nil || syscall.Kill(pid, syscall.SIGKILL) != nil {
		t.Fatalf("cannot kill %s", process)
	}
}

// processOf returns the directory in /proc of the program of a container.
func processOf(t *testing.T, darkroom *v1alpha1.Darkroom, container string) string {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	id := containerStatus(t, darkroom, container).ContainerID
	_, id, _ = strings.Cut(id, "://")
	for _, process := range processes {
		group, _ := os.ReadFile(filepath.Join(process, "cgroup")) // it may have ended
		program, _ := os.ReadFile(filepath.Join(process, "comm"))
		if strings.Contains(string(group), id) && strings.TrimSpace(string(program)) == container {
			return process
		}
	}
	t.Skip("the node's processes are not visible")
	return ""
}

func containerStatus(t *testing.T, darkroom *v1alpha1.Darkroom, container string) corev1.ContainerStatus {
	t.Helper()
	for _, status := range onlyPod(t, darkroom).Status.ContainerStatuses {
		if status.Name == container {
			return status
		}
	}
	t.Fatalf("no container %s", container)
	return corev1.ContainerStatus{}
}

// Not parallel, because the load of other tests would distort the measurement.
func TestAGateServesKnownImagesWhateverFails(t *testing.T) {
	const source = "failing"
	url, err := startSource(t.Context(), source, 8080, "webfolder", "--addr", ":8080")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: sourcesNamespace, Name: source}}
	t.Cleanup(func() { _ = kube.Delete(context.Background(), pod, client.GracePeriodSeconds(0)) })
	if err != nil {
		t.Fatal(err)
	}
	darkroom := newGated(t, "standing", url, v1alpha1.Gate{Cache: &v1alpha1.GateCache{
		Disk: ptr.To(resource.MustParse("64Mi")), RevalidateSeconds: ptr.To[int32](1),
	}})
	host := hostOf(darkroom)
	load := startLoad(host)
	waitRequests(t, load, 300) // Darkroom must run for some time first

	load.during(t, "Darkroom is killed", func() {
		kill(t, darkroom, "darkroom")
		got := ask(t, http.MethodGet, host, imagePath+"?w=121&mono=000000")
		if got.status != http.StatusOK && (got.status != http.StatusServiceUnavailable ||
			got.header.Get("Retry-After") == "") {
			t.Errorf("an unknown image without Darkroom: %d %v", got.status, got.header)
		}
		eventually(t, "Darkroom transforms again", func(context.Context) error {
			if got := ask(t, http.MethodGet, host, imagePath+"?w=122&mono=000000"); got.status != http.StatusOK {
				return fmt.Errorf("status %d", got.status)
			}
			return nil
		})
		waitRequests(t, load, 100)
	})
	if status := containerStatus(t, darkroom, "darkroom"); status.RestartCount != 0 {
		t.Errorf("the container was restarted: %+v", status)
	}
	load.mustNotHaveFailed(t)

	load.during(t, "the source is down", func() {
		if err := kube.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the source has ended", func(ctx context.Context) error {
			if err := kube.Get(ctx, client.ObjectKeyFromObject(pod), pod); !apierrors.IsNotFound(err) {
				return errors.New("it still exists")
			}
			return nil
		})
		waitRequests(t, load, 100)
		got := ask(t, http.MethodGet, host, imagePath+"?w=123")
		if (got.status != http.StatusBadGateway && got.status != http.StatusGatewayTimeout) ||
			got.header.Get("Retry-After") == "" {
			t.Errorf("an unknown image without its source: %d %v", got.status, got.header)
		}
	})
	load.end(t)

	kill(t, darkroom, "gate")
	eventually(t, "the gate is restarted", func(context.Context) error {
		if status := containerStatus(t, darkroom, "gate"); status.RestartCount == 0 || !status.Ready {
			return errors.New("not yet")
		}
		return nil
	})
	eventually(t, "known images are served from disk", func(ctx context.Context) error { return serves(ctx, host, 60) })
}
