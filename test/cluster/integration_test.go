package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/cluster"
)

// kindVariable opts in to these tests, which start clusters:
//
//	CLUSTER_TEST=simulated go test -v .
//	CLUSTER_TEST=real go test -v .
const kindVariable = "CLUSTER_TEST"

// TestMain makes the test's program the tool itself when it is called as such:
// a supervisor is started from the program that runs.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		main()
	}
	os.Exit(m.Run())
}

// tool runs the tool and returns its standard output.
func tool(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("cluster %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

func kubectl(t *testing.T, s cluster.State, args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(s.BinDir, "kubectl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.Kubeconfig)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// up starts a cluster that is stopped when the test ends.
func up(t *testing.T, dir, kind string) cluster.State {
	t.Helper()
	tool(t, "up", "--dir", dir, "--node", kind)
	t.Cleanup(func() { tool(t, "down", "--dir", dir) })
	state, err := cluster.LoadState(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ready after %s", state.ReadyAfter)
	return state
}

func optIn(t *testing.T, kinds ...string) string {
	t.Helper()
	kind := os.Getenv(kindVariable)
	for _, k := range kinds {
		if k == kind {
			return kind
		}
	}
	t.Skipf("%s is not one of %v", kindVariable, kinds)
	return ""
}

func TestPodsBecomeReadyAndGoAway(t *testing.T) {
	optIn(t, "simulated")
	s := up(t, t.TempDir(), "simulated")
	kubectl(t, s, "apply", "-f", "testdata/web.yaml")
	kubectl(t, s, "-n", "web", "rollout", "status", "deployment/web", "--timeout=60s")
	kubectl(t, s, "-n", "web", "delete", "deployment/web", "--cascade=foreground", "--timeout=60s")
	if left := kubectl(t, s, "-n", "web", "get", "pods", "-o", "name"); left != "" {
		t.Errorf("pods are left: %s", left)
	}
	if token := kubectl(t, s, "create", "token", "default"); !strings.HasPrefix(token, "ey") {
		t.Errorf("not a token: %s", token)
	}
}

func TestNothingSurvivesAKilledSupervisor(t *testing.T) {
	kind := optIn(t, "simulated", "real")
	dir := t.TempDir()
	s := up(t, dir, kind)
	if err := syscall.Kill(s.Supervisor, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all programs end", func() error {
		for _, c := range s.Components {
			if err := syscall.Kill(c.PID, 0); err == nil {
				return fmt.Errorf("%s, process %d, still runs", c.Name, c.PID)
			}
		}
		return nil
	})
	// The folder, and with a real node the machine, can be used again at once.
	tool(t, "up", "--dir", dir, "--node", kind)
}

func TestARealNodeServesThroughARollout(t *testing.T) {
	optIn(t, "real")
	dir := t.TempDir()
	program := filepath.Join(t.TempDir(), "web")
	build := exec.Command("go", "build", "-o", program, "./testdata/web")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	s := up(t, dir, "real")
	tool(t, "load", "--dir", dir, "--workdir", "/app", "example.com/web:v1="+program)
	kubectl(t, s, "apply", "-f", "testdata/web.yaml")
	kubectl(t, s, "-n", "web", "rollout", "status", "deployment/web", "--timeout=120s")

	for _, host := range []string{"no-class.example.com", "with-class.example.com"} {
		eventually(t, "the Ingress is served", func() error { return expect(s, host, "/", "uid: 65532") })
	}
	for _, want := range []string{"Seccomp:\t2", "CapBnd:\t0000000000000000", "writable: false"} {
		if err := expect(s, "no-class.example.com", "/", want); err != nil {
			t.Error(err)
		}
	}
	if err := expect(s, "no-class.example.com", "/api-server", "reached"); err != nil {
		t.Error(err)
	}
	for address, want := range map[string]string{
		"web:80":                       "reached",
		"kubernetes.default:443":       "reached",
		"web.web.svc.cluster.local:80": "reached",
		"absent.example.com:80":        "no such host",
	} {
		// kube-proxy refuses connections until it has seen the endpoints that the router serves already.
		eventually(t, address+": "+want, func() error { return expect(s, "no-class.example.com", "/reach?address="+address, want) })
	}
	if logs := kubectl(t, s, "-n", "web", "logs", "deployment/web"); !strings.Contains(logs, "listening on :8080") {
		t.Errorf("logs are %q", logs)
	}
	if answer := kubectl(t, s, "get", "--raw", "/api/v1/namespaces/web/services/web:80/proxy/"); !strings.Contains(answer, "uid: 65532") {
		t.Errorf("through the API server: %q", answer)
	}

	ctx, stop := context.WithCancel(context.Background())
	var load sync.WaitGroup
	requests, failures := 0, []error{}
	load.Go(func() {
		for ctx.Err() == nil {
			requests++
			if err := expect(s, "no-class.example.com", "/", "uid: 65532"); err != nil {
				failures = append(failures, err)
			}
		}
	})
	kubectl(t, s, "-n", "web", "rollout", "restart", "deployment/web")
	kubectl(t, s, "-n", "web", "rollout", "status", "deployment/web", "--timeout=120s")
	stop()
	load.Wait()
	t.Logf("%d requests during the rollout", requests)
	if len(failures) > 0 {
		t.Errorf("%d of %d failed during the rollout, the first: %v", len(failures), requests, failures[0])
	}
}

// expect requests a path of a host through the ingress controller.
func expect(s cluster.State, host, path, want string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Ingress+path, nil)
	if err != nil {
		return err
	}
	request.Host = host
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
		return fmt.Errorf("%s%s: status %d, body %q; want %q", host, path, response.StatusCode, body, want)
	}
	return nil
}

func eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s: %v", what, err)
		}
	}
}
