package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"syscall"
	"testing"
)

func TestASourceThatCannotWorkStartsAndFailsEachImage(t *testing.T) {
	s3 := func(without string) map[string]string {
		env := map[string]string{
			"SOURCE_KIND": "S3", "SOURCE_BUCKET_NAME": "my_photos", "SOURCE_BUCKET_REGION": "eu-west-2",
			"SOURCE_BUCKET_ACCESSKEY": "key", "SOURCE_BUCKET_SECRETKEY": "secret",
			"SOURCE_BUCKET_ENDPOINT": "http://127.0.0.1:" + strconv.Itoa(freePort(t)),
		}
		delete(env, without)
		return env
	}
	for name, env := range map[string]map[string]string{
		"no base URL":           {"SOURCE_KIND": "WebFolder"},
		"base URL, no scheme":   {"SOURCE_KIND": "WebFolder", "SOURCE_BASEURL": "example.com/assets"},
		"base URL, no listener": {"SOURCE_KIND": "WebFolder", "SOURCE_BASEURL": "http://127.0.0.1:" + strconv.Itoa(freePort(t))},
		"no bucket":             s3("SOURCE_BUCKET_NAME"),
		"no region":             s3("SOURCE_BUCKET_REGION"),
		"no access key":         s3("SOURCE_BUCKET_ACCESSKEY"),
		"no secret key":         s3("SOURCE_BUCKET_SECRETKEY"),
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, env) // /ping is 200: ready is not the same as serving
			p.expect("/images/x.png", http.StatusUnprocessableEntity)
		})
	}
}

func TestAnOriginalThatIsNotAnImageCannotBeProcessed(t *testing.T) {
	p := start(t, webFolderEnv(newFolder(t)))
	p.expect("/none.png?w=10", http.StatusUnprocessableEntity)
	// Without parameters nothing is decoded, so the folder's error page is served
	// as if it were the image.
	if got := p.expect("/none.png", http.StatusOK); string(got.body) != "not an image\n" {
		t.Errorf("body %q", got.body)
	}
	p.expect("/none.png?fit=crop&w=10", http.StatusUnprocessableEntity)
}

func TestAnUnknownKindOfSourceEndsTheProcess(t *testing.T) {
	for _, env := range []map[string]string{
		{},
		{"SOURCE_KIND": "ftp"},
		{"SOURCE_KIND": "gcs", "SOURCE_BUCKET_NAME": "b", "SOURCE_BUCKET_CREDENTIALSJSON": "{not json"},
	} {
		if code := launch(t, freePort(t), env).wait(); code == 0 {
			t.Errorf("%v: exit code 0", env)
		}
	}
}

func TestThePortIsAFlagAndNotAVariable(t *testing.T) {
	if listener, err := net.Listen("tcp", ":3000"); err != nil {
		t.Skip("the default port 3000 is taken")
	} else {
		listener.Close()
	}
	env := webFolderEnv(newFolder(t))
	env["PORT"] = strconv.Itoa(freePort(t))
	p := launch(t, 0, env)
	p.waitUntil("it listens on 3000", func() bool { return listens(p.base) })
	if listens("http://127.0.0.1:" + env["PORT"]) {
		t.Error("listens on $PORT")
	}
}

func TestKnownLogLevelsStart(t *testing.T) {
	env := webFolderEnv(newFolder(t))
	for _, level := range []string{"debug", "info", "warn", "error", "dpanic", "panic", "fatal", "INFO"} {
		env["LOG_LEVEL"] = level
		start(t, env)
	}
}

func TestSIGTERMClosesTheListenerAtOnceAndDrains(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-release
		_, _ = w.Write([]byte("late"))
	}))
	defer slow.Close()
	p := launch(t, freePort(t), map[string]string{"SOURCE_KIND": "WebFolder", "SOURCE_BASEURL": slow.URL})
	p.waitUntil("it listens", func() bool { return listens(p.base) })

	status := make(chan int, 1)
	go func() { status <- statusOrZero(p.base + "/slow.png") }()
	<-asked
	p.signal(syscall.SIGTERM)
	p.waitUntil("no connection is accepted", func() bool { return !listens(p.base) })
	select {
	case got := <-status:
		t.Fatalf("the request under way was cut off: %d", got)
	default:
	}
	close(release)
	if got := <-status; got != http.StatusOK {
		t.Errorf("the request under way got %d", got)
	}
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func statusOrZero(url string) int {
	response, err := http.Get(url)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

func listens(base string) bool {
	connection, err := net.Dial("tcp", base[len("http://"):])
	if err != nil {
		return false
	}
	connection.Close()
	return true
}
