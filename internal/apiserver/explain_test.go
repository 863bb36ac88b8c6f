package apiserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/explain"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

func question(url string) string { return fmt.Sprintf(`{"url":%q}`, url) }

// Only users who may get the Darkroom receive an explanation; for other users it does not exist.
func TestAURLIsExplained(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	host := "photos." + namespace + ".example.org"
	s := start(t, func(o *apiserver.Options) { o.BaseDomains = []string{"{namespace}.example.org"} })
	editor, stranger := newEditor(t, namespace), newUser(t, namespace, "stranger")
	url := "https://" + host + "/cat.png?w=7&s=kanarienvogel&token=kanarienvogel"
	unknown := s.want(http.StatusOK, stranger.token, "POST", "/explain", question(url))
	s.want(http.StatusCreated, editor.token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	ask := func(who *user, body string) explain.Explanation {
		t.Helper()
		return into[explain.Explanation](t, s.want(http.StatusOK, who.token, "POST", "/explain", body))
	}
	got := ask(editor, question(url))
	if got.Blame != explain.Host || got.Darkroom == nil ||
		*got.Darkroom != (explain.Subject{Namespace: namespace, Name: "photos"}) {
		t.Errorf("without an operator: %+v", got)
	}

	darkroom := stored(t, namespace, "photos")
	darkroom.Status.Domains, darkroom.Status.ReadyReplicas, darkroom.Status.Replicas = []string{host}, 1, 1
	expect.NoError(t, kube.Status().Update(t.Context(), darkroom))
	claim(t, host, namespace, "photos")
	serveAs(t, namespace, "photos", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.URL.RawQuery != "w=7" {
			t.Errorf("the Darkroom received the request %s with the authorization %q", r.URL, r.Header.Get("Authorization"))
		}
		if r.URL.Path != "/cat.png" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "image/png")
		fmt.Fprint(w, "an image")
	}))
	eventually(t, "the image is served", func() error {
		if got = ask(editor, question(url)); got.Blame != "" {
			return fmt.Errorf("the explanation is %+v", got)
		}
		return nil
	})
	if hop := got.Hops[len(got.Hops)-2]; hop.Kind != explain.Darkroom || hop.Status != 200 || hop.Bytes != 8 {
		t.Errorf("the hop is %+v", hop)
	}
	if got = ask(editor, question(strings.Replace(url, "cat", "dog", 1))); got.Blame != explain.Source ||
		got.Field != "source.baseUrl" {
		t.Errorf("a missing image: %+v", got)
	}
	if got = ask(editor, fmt.Sprintf(`{"url":%q,"status":404}`, url)); got.Blame != explain.Route {
		t.Errorf("a default page: %+v", got)
	}
	if got = ask(editor, question("https://fotos."+namespace+".example.org/cat.png")); !strings.Contains(got.Remedy,
		"Check the spelling") {
		t.Errorf("a misspelled host: %+v", got)
	}

	if answer := s.want(http.StatusOK, stranger.token, "POST", "/explain", question(url)); answer.body != unknown.body {
		t.Errorf("a stranger gets %s, want %s", answer.body, unknown.body)
	}
	viewer := newUserWho(t, namespace, "viewer", canView)
	if got = ask(viewer, question(url)); got.Blame != "" || !strings.Contains(got.Remedy, "services/proxy") {
		t.Errorf("a user who may not use the proxy gets %+v", got)
	}
	if strings.Contains(s.log.String()+unknown.body, "kanarienvogel") {
		t.Error("a credential of the URL is in the log or the response")
	}
}

func TestAnInvalidURLIsNotExplained(t *testing.T) {
	t.Parallel()
	s, _, token := startForEditor(t)
	for _, body := range []string{
		question(""), question("ftp://photos.example.com/a"), question("https://"),
		question("https://a b/"), "{}", `{"url":"https://a/","status":7}`, `{"url":"https://a/","x":1}`,
	} {
		answer := s.want(http.StatusUnprocessableEntity, token, "POST", "/explain", body)
		if len(problemOf(t, answer).Errors) != 1 {
			t.Errorf("%s: got status %s", body, answer)
		}
	}
	s.want(http.StatusUnauthorized, "", "POST", "/explain", question("https://a/"))
	s.want(http.StatusRequestEntityTooLarge, token, "POST", "/explain", question("https://a/"+strings.Repeat("x", 1<<15)))
}
