package main

import (
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

// programs are the paths of executables.
type programs struct{ darkroom, gate, nginx string }

type contender struct {
	name string
	// start receives the URL of the source, and additional variables for the gate.
	start func(p programs, source string, environ ...string) (*stack, error)
}

// stack is a set of processes that serve images at url.
type stack struct {
	url       string
	metrics   string // URL of the gate's metrics
	folder    string
	darkroom  *exec.Cmd
	gate      *exec.Cmd // nil if there is none
	processes []*exec.Cmd
	// rewrite returns the URL of an image at another proxy, whose processes are not started here.
	rewrite func(path string) string
	others  []int
}

func newStack() (*stack, error) {
	folder, err := os.MkdirTemp("", "benchgate")
	return &stack{folder: folder}, err
}

// at returns the URL of a path and its parameters.
func (s *stack) at(path string) string {
	if s.rewrite != nil {
		return s.rewrite(path)
	}
	return s.url + path
}

func (s *stack) cacheFolder() string { return filepath.Join(s.folder, "cache") }

// errorsOf is the file with the standard error of a program.
func (s *stack) errorsOf(program string) string {
	return filepath.Join(s.folder, filepath.Base(program)+".log")
}

func (s *stack) stop() {
	for _, p := range s.processes {
		_ = p.Process.Kill()
		_ = p.Wait()
	}
	_ = os.RemoveAll(s.folder)
}

func (s *stack) launch(path string, environ []string, args ...string) (*exec.Cmd, error) {
	cmd := exec.Command(path, args...)
	cmd.Dir = s.folder
	cmd.Env = append(slices.Clone(environ), "PATH="+os.Getenv("PATH"))
	stderr, err := os.Create(s.errorsOf(path))
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s.processes = append(s.processes, cmd)
	return cmd, nil
}

func freePort() int {
	address, err := program.FreeAddress()
	if err != nil {
		panic(err)
	}
	return int(netip.MustParseAddrPort(address).Port())
}

func local(port int) string { return "http://127.0.0.1:" + strconv.Itoa(port) }

// startDarkroom starts Darkroom with the settings of the chart, except those in environ.
func (s *stack) startDarkroom(path, source string, port int, environ ...string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	s.darkroom, err = s.launch(absolute, append([]string{
		"SOURCE_KIND=webfolder", "SOURCE_BASEURL=" + source, "LOG_LEVEL=fatal", "CACHE_TIME=31536000",
		"SOURCE_HYSTRIX_TIMEOUT=10000", "SOURCE_HYSTRIX_MAXCONCURRENTREQUESTS=100",
		"SOURCE_HYSTRIX_REQUESTVOLUMETHRESHOLD=20",
		"SOURCE_HYSTRIX_SLEEPWINDOW=5000", "SOURCE_HYSTRIX_ERRORPERCENTTHRESHOLD=90",
	}, environ...), "server", "-p", strconv.Itoa(port))
	if err != nil {
		return err
	}
	return ready(local(port) + "/ping")
}

// ready waits until a URL returns 200.
func ready(url string) error {
	for range 400 {
		if response, err := http.Get(url); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	return fmt.Errorf("%s does not respond", url)
}

func alone(p programs, source string, _ ...string) (*stack, error) {
	s, err := newStack()
	if err != nil {
		return nil, err
	}
	port := freePort()
	s.url = local(port)
	return s, s.startDarkroom(p.darkroom, source, port)
}

const nginxConfig = `
daemon off; pid %[1]s/nginx.pid; error_log %[1]s/error.log; worker_processes 2;
events { worker_connections 4096; }
http {
  access_log off;
  proxy_cache_path %[1]s/cache keys_zone=images:10m max_size=1g inactive=1d use_temp_path=off;
  proxy_temp_path %[1]s/proxy; client_body_temp_path %[1]s/body; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
  server {
    listen 127.0.0.1:%[2]d;
    location / {
      proxy_pass %[3]s; proxy_cache images; proxy_cache_lock on; proxy_cache_revalidate on;
      proxy_cache_use_stale error timeout http_500 http_502 http_503 http_504;
    }
  }
}
`

func behindNginx(p programs, source string, _ ...string) (*stack, error) {
	s, err := alone(p, source)
	if err != nil {
		return nil, err
	}
	port := freePort()
	config := filepath.Join(s.folder, "nginx.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, nginxConfig, s.folder, port, s.url), 0o600); err != nil {
		return nil, err
	}
	if _, err := s.launch(p.nginx, nil, "-c", config, "-g", "user root;"); err != nil {
		return nil, err
	}
	s.url = local(port)
	return s, ready(s.url + "/ping")
}

// startGate starts the gate with the settings of the chart, except those in environ.
func startGate(p programs, source string, environ ...string) (*stack, error) {
	s, err := newStack()
	if err != nil {
		return nil, err
	}
	gate, err := filepath.Abs(p.gate)
	if err != nil {
		return nil, err
	}
	dark, public, inner, metrics := freePort(), freePort(), freePort(), freePort()
	cache := s.cacheFolder()
	if err := os.Mkdir(cache, 0o700); err != nil {
		return nil, err
	}
	if err := s.startDarkroom(p.darkroom, local(inner), dark, "SOURCE_HYSTRIX_MAXCONCURRENTREQUESTS=1000"); err != nil {
		return nil, err
	}
	variables := []string{
		"SOURCE_KIND=webfolder", "SOURCE_BASEURL=" + source, "LOG_LEVEL=fatal", "GATE_CACHE_FOLDER=" + cache,
		"GATE_ADDRESS=127.0.0.1:" + strconv.Itoa(public), "GATE_INNER_ADDRESS=127.0.0.1:" + strconv.Itoa(inner),
		"GATE_METRICS_ADDRESS=127.0.0.1:" + strconv.Itoa(metrics), "GATE_DARKROOM_URL=" + local(dark),
		"GATE_DARKROOM_MEMORY_LIMIT=" + strconv.Itoa(1<<30),
		"GATE_RESIZER=" + os.Getenv("RESIZER"),
	}
	for _, variable := range environ {
		variables = append(variables, strings.ReplaceAll(variable, "$SOURCE", source))
	}
	if s.gate, err = s.launch(gate, variables); err != nil {
		return nil, err
	}
	s.url, s.metrics = local(public), local(metrics)+"/metrics"
	return s, ready(local(metrics) + "/readyz")
}

// field returns a number in /proc/PID/status in MiB, such as VmHWM, the peak memory.
func field(pid int, name string) int {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(content)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return n / 1024
		}
	}
	return 0
}

func (s *stack) pids() []int {
	pids := slices.Clone(s.others)
	for _, p := range s.processes {
		pids = append(pids, p.Process.Pid)
	}
	return pids
}

// peak returns the peak memory of all processes, and of Darkroom if there are others.
func (s *stack) peak() string {
	var all int
	for _, pid := range s.pids() {
		all += field(pid, "VmHWM")
	}
	if s.darkroom == nil || len(s.pids()) == 1 {
		return fmt.Sprintf("%d MiB", all)
	}
	return fmt.Sprintf("%d MiB (Darkroom %d)", all, field(s.darkroom.Process.Pid, "VmHWM"))
}

// cpu returns the processor time of all processes and their children.
func (s *stack) cpu() time.Duration {
	var ticks int
	for _, parent := range s.pids() {
		for _, pid := range append(children(parent), parent) {
			content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err != nil {
				continue
			}
			fields := strings.Fields(string(content[strings.LastIndexByte(string(content), ')')+1:]))
			user, _ := strconv.Atoi(fields[11])
			system, _ := strconv.Atoi(fields[12])
			ticks += user + system
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

func children(pid int) []int {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil
	}
	var pids []int
	for field := range strings.FieldsSeq(string(content)) {
		if child, err := strconv.Atoi(field); err == nil {
			pids = append(pids, child)
		}
	}
	return pids
}
