//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/child"
)

func TestAProgramCreatesADarkroomOverRESTAndGetsAnImageThroughIt(t *testing.T) {
	t.Parallel()
	server, namespace := startAPIServer(t), newNamespace(t)
	token := newPerson(t, namespace, "editor", editing)
	body, err := json.Marshal(map[string]any{
		"name": "rest", "namespace": namespace, "source": map[string]any{"baseUrl": theSources.folderURL}, "subDomains": []string{namespace},
	})
	if err != nil {
		t.Fatal(err)
	}
	// The cluster may take a moment to know the person's rights.
	eventually(t, "the Darkroom is created", func(ctx context.Context) error {
		status, answer, err := server.call(ctx, token, http.MethodPost, "/darkrooms", string(body))
		if err == nil && status != http.StatusCreated {
			err = fmt.Errorf("the answer is %d: %s", status, answer)
		}
		return err
	})
	one := "/darkrooms/" + namespace + "/rest"
	eventually(t, "the API reports it as ready", func(ctx context.Context) error {
		_, answer, err := server.call(ctx, token, http.MethodGet, one, "")
		if err != nil {
			return err
		}
		darkroom := wire.Darkroom{}
		if err := json.Unmarshal(answer, &darkroom); err != nil {
			return err
		}
		if darkroom.Status.Phase != "Ready" {
			return fmt.Errorf("its status is %+v", darkroom.Status)
		}
		return nil
	})
	eventually(t, "the resized image comes through the API", func(ctx context.Context) error {
		status, answer, err := server.call(ctx, token, http.MethodGet, one+"/image?path="+imagePath+"&w=200", "")
		if err == nil && status != http.StatusOK {
			return fmt.Errorf("the answer is %d: %s", status, answer)
		}
		if err != nil {
			return err
		}
		return isImage(answer, 200)
	})
	_, answer, err := server.call(t.Context(), token, http.MethodGet, one+"/pods", "")
	if err != nil {
		t.Fatal(err)
	}
	pods := apiserver.PodList{}
	if err := json.Unmarshal(answer, &pods); err != nil || len(pods.Items) != 1 || !pods.Items[0].Ready {
		t.Errorf("its pods are %s: %v", answer, err)
	}
	if status, answer, err := server.call(t.Context(), token, http.MethodDelete, one, ""); err != nil || status != http.StatusAccepted {
		t.Errorf("the deletion answers %d: %s: %v", status, answer, err)
	}
	eventually(t, "the Darkroom is gone", func(ctx context.Context) error {
		status, _, err := server.call(ctx, token, http.MethodGet, one, "")
		if err == nil && status != http.StatusNotFound {
			err = fmt.Errorf("the answer is %d", status)
		}
		return err
	})
}

// TestPeopleUseThePage runs web/e2e/browser.mjs, whose steps become subtests. The page
// must be built into the operator: make e2e does that.
func TestPeopleUseThePage(t *testing.T) {
	t.Parallel()
	server, namespace := startAPIServer(t), newNamespace(t)
	create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "album-keys"},
		StringData: map[string]string{"accessKey": accessKey, "secretKey": secretKey},
	})
	editor, viewer := newPerson(t, namespace, "editor", append(keepingSecrets, editing...)), newPerson(t, namespace, "viewer", viewing)

	runSteps(t, "browser.mjs", []string{strings.TrimPrefix(server.url, "http://")},
		// Browsers keep cookies that are marked Secure for localhost, not for an address.
		"URL="+strings.Replace(server.url, "127.0.0.1", "localhost", 1), "NAMESPACE="+namespace,
		"EDITOR_TOKEN="+editor, "VIEWER_TOKEN="+viewer, "FOLDER_URL="+theSources.folderURL,
		"S3_ENDPOINT="+theSources.bucketURL, "S3_BUCKET="+bucket, "S3_REGION="+region, "S3_SECRET=album-keys",
		"PICTURE="+imagePath, "BASE_DOMAIN="+baseDomain)
	for what, text := range map[string]string{"a token": editor, "a key": secretKey} {
		if strings.Contains(server.log(), text) {
			t.Errorf("the log of the API server holds %s", what)
		}
	}
}

// runSteps runs a browser test in web/e2e, whose steps become subtests. It reaches the servers
// at some addresses.
func runSteps(t *testing.T, script string, servers []string, environment ...string) {
	t.Helper()
	chromium := os.Getenv("CHROMIUM")
	if chromium == "" {
		chromium = "/usr/bin/chromium"
	}
	for _, needed := range []string{chromium, filepath.Join(repository, "web", "node_modules", "playwright-core")} {
		if _, err := os.Stat(needed); err != nil {
			t.Skipf("the browser test needs chromium, Node and npm, and then make e2e: %v", err)
		}
	}
	browser := aloneInItsNetwork(t, servers, "node", filepath.Join(repository, "web", "e2e", script))
	browser.Env = append(append(browser.Environ(), environment...), "CHROMIUM="+chromium)
	browser.Stderr = os.Stderr
	out, err := browser.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(browser); err != nil {
		t.Fatalf("start the browser test: %v", err)
	}
	steps := 0
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		verdict, step, isStep := strings.Cut(line, " - ")
		if !isStep || (verdict != "ok" && verdict != "not ok") {
			said = append(said, line)
			continue
		}
		name, _, _ := strings.Cut(step, " (")
		t.Run(name, func(t *testing.T) {
			t.Log(step)
			if verdict != "ok" {
				t.Error(strings.Join(said, "\n"))
			}
		})
		said = nil
		steps++
	}
	if err := browser.Wait(); err != nil && !t.Failed() {
		t.Errorf("the browser test ended with %v: %s", err, strings.Join(said, "\n"))
	}
	if steps == 0 {
		t.Error("the browser test ran no step")
	}
}
