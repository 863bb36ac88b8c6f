//go:build e2e

package e2e

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/child"
)

// TestPeopleCreateDarkroomsOnThePage runs web/e2e/creating.mjs.
func TestPeopleCreateDarkroomsOnThePage(t *testing.T) {
	t.Parallel()
	runPage(t, "creating.mjs", newNamespace(t))
}

// TestPeopleKeepDarkroomsOnThePage runs web/e2e/keeping.mjs.
func TestPeopleKeepDarkroomsOnThePage(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "album-keys"},
		StringData: map[string]string{"accessKey": accessKey, "secretKey": secretKey},
	})
	late, lateNamespace := newPerson(t, namespace, "late", viewing), newNamespace(t)
	permit(t, metav1.ObjectMeta{Namespace: lateNamespace, Name: "late"},
		rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "late"}, editing)
	create(t, newDarkroom(lateNamespace, "late").SubDomains("late").Replicas(0).Obj())

	runPage(t, "keeping.mjs", namespace, "VIEWER_TOKEN="+newPerson(t, namespace, "viewer", viewing),
		"STRANGER_TOKEN="+newPerson(t, namespace, "stranger", nil), "LATE_TOKEN="+late, "LATE_NAMESPACE="+lateNamespace,
		"S3_ENDPOINT="+theSources.bucketURL, "S3_BUCKET="+bucket, "S3_REGION="+region, "S3_SECRET=album-keys")
}

// runPage runs a browser test of the page as an editor of a namespace. The page must be built into the operator, as by
// make e2e.
func runPage(t *testing.T, script, namespace string, environment ...string) {
	t.Helper()
	server := startAPIServer(t)
	editor := newPerson(t, namespace, "editor", append(keepingSecrets, editing...))
	runSteps(t, script, []string{strings.TrimPrefix(server.URL, "http://")}, append(environment,
		// Browsers keep cookies marked Secure for localhost, but not for an IP address.
		"URL="+strings.Replace(server.URL, "127.0.0.1", "localhost", 1), "NAMESPACE="+namespace, "EDITOR_TOKEN="+editor,
		"FOLDER_URL="+theSources.folderURL, "PICTURE="+imagePath, "BASE_DOMAIN="+baseDomain)...)
	for what, text := range map[string]string{"a token": editor, "a key": secretKey} {
		if strings.Contains(server.Log(allLines), text) {
			t.Errorf("the log of the API server contains %s", what)
		}
	}
}

// runSteps runs a browser test in web/e2e. Its steps become subtests. It can reach the given servers.
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
	must(t, err)
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
