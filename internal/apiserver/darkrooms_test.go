package apiserver_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// webFolder is the body of a valid Darkroom.
func webFolder(namespace, name string) string {
	return fmt.Sprintf(
		`{"name":%q,"namespace":%q,"source":{"type":"WebFolder","baseUrl":"https://example.com/images"},"subDomains":[%q]}`,
		name, namespace, name)
}

func path(namespace, name string) string { return "/darkrooms/" + namespace + "/" + name }

func stored(t *testing.T, namespace, name string) *v1alpha1.Darkroom {
	t.Helper()
	out := &v1alpha1.Darkroom{}
	expect.NoError(t, kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, out))
	return out
}

func TestLifeOfADarkroom(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)

	created := s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	if got, want := created.header.Get("Location"), path(namespace, "photos"); got != want {
		t.Errorf("Location is %q, want %q", got, want)
	}
	got := s.want(http.StatusOK, token, "GET", path(namespace, "photos"), "")
	tag := got.header.Get("ETag")
	if tag == "" || tag != created.header.Get("ETag") {
		t.Errorf("ETag is %q after %q: the write is not visible at once", tag, created.header.Get("ETag"))
	}
	body := into[wire.Darkroom](t, got)
	if body.Source.BaseURL != "https://example.com/images" || body.Status.Domains == nil || body.CreatedAt == nil {
		t.Errorf("body is %s", got)
	}
	s.want(http.StatusNotModified, token, "GET", path(namespace, "photos"), "", "If-None-Match", tag)

	if got := listed(t, s, token, "?namespace="+namespace); !slices.Equal(got, []string{namespace + "/photos"}) {
		t.Errorf("list is %q", got)
	}

	changed := s.want(http.StatusOK, token, "PATCH", path(namespace, "photos"), `{"replicas":3,"logLevel":"debug"}`,
		"If-Match", tag, "Content-Type", "application/merge-patch+json")
	now := stored(t, namespace, "photos")
	if *now.Spec.Replicas != 3 || now.Spec.LogLevel != "debug" || now.Spec.Source.BaseURL == "" {
		t.Errorf("after PATCH the spec is %+v", now.Spec)
	}
	// A response can be sent back unchanged, because read-only fields are ignored.
	replaced := s.want(http.StatusOK, token, "PUT", path(namespace, "photos"),
		strings.Replace(changed.body, `"logLevel":"debug"`, `"logLevel":"warn"`, 1), "If-Match", changed.header.Get("ETag"))
	if now := stored(t, namespace, "photos"); now.Spec.LogLevel != "warn" || *now.Spec.Replicas != 3 {
		t.Errorf("after PUT the spec is %+v", now.Spec)
	}
	s.want(http.StatusOK, token, "PATCH", path(namespace, "photos"), `{"logLevel":null}`,
		"If-Match", replaced.header.Get("ETag"), "Content-Type", "application/merge-patch+json")
	if now := stored(t, namespace, "photos"); now.Spec.LogLevel != "" {
		t.Errorf("null left logLevel %q", now.Spec.LogLevel)
	}

	s.want(http.StatusNoContent, token, "DELETE", path(namespace, "photos"), "")
	for _, route := range []string{"", "/pods", "/events", "/manifest", "/image?path=/x.jpg"} {
		problemOf(t, s.want(http.StatusNotFound, token, "GET", path(namespace, "photos")+route, ""))
	}
}

func TestRefusalsOfTheClusterNameTheField(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	with := func(change string) string {
		return strings.Replace(webFolder(namespace, "photos"), `"subDomains"`, change+`,"subDomains"`, 1)
	}
	for name, c := range map[string]struct {
		body   string
		fields []string
	}{
		"no name": {
			strings.Replace(webFolder(namespace, "x"), `"name":"x",`, "", 1),
			[]string{"body.name"},
		},
		"bad name":                     {webFolder(namespace, "9lives"), []string{"body.name"}},
		"bad namespace":                {webFolder("no/where", "photos"), []string{"body.namespace"}},
		"no source and no sub-domains": {fmt.Sprintf(`{"name":"x","namespace":%q}`, namespace), []string{"body.source", "body.subDomains"}},
		"a value that the cluster rejects": {strings.Replace(webFolder(namespace, "photos"), "https://example.com/images", "",
			1), []string{"body.source.baseUrl"}},
		"several that the cluster refuses": {
			with(`"replicas":-1,"logLevel":"loud"`),
			[]string{"body.logLevel", "body.replicas"},
		},
		"bad sub-domain": {
			strings.Replace(webFolder(namespace, "photos"), `["photos"]`, `["Photos!"]`, 1),
			[]string{"body.subDomains[0]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			wantLocations(t, s.on(t).want(http.StatusUnprocessableEntity, token, "POST", "/darkrooms", c.body), c.fields...)
		})
	}
}

const mergePatch = "application/merge-patch+json"

// refusal is a request with the status of the problem that it gets.
type refusal struct {
	method, path, body string
	headers            []string
	status             int
}

// checkRefusals sends requests of an editor, and checks that the Darkroom photos stays as it was.
func checkRefusals(t *testing.T, s *server, namespace, token string, refusals map[string]refusal) {
	t.Helper()
	before := stored(t, namespace, "photos").ResourceVersion
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			problemOf(t, s.on(t).want(c.status, token, c.method, c.path, c.body, c.headers...))
		})
	}
	if after := stored(t, namespace, "photos").ResourceVersion; after != before {
		t.Errorf("got version %s, want %s: something was written", after, before)
	}
}

// startWithPhotos starts a server for an editor who has created the Darkroom photos, and returns its ETag.
func startWithPhotos(t *testing.T) (s *server, namespace, token, tag string) {
	t.Helper()
	s, namespace, token = startForEditor(t)
	tag = s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos")).header.Get("ETag")
	return s, namespace, token, tag
}

func TestPostsOfBadBodiesAndParametersAreRefused(t *testing.T) {
	t.Parallel()
	s, namespace, token, _ := startWithPhotos(t)
	body := webFolder(namespace, "photos")
	checkRefusals(t, s, namespace, token, map[string]refusal{
		"POST of a name that is taken": {"POST", "/darkrooms", body, nil, http.StatusConflict},
		"POST of a form": {
			"POST", "/darkrooms", "a=b",
			[]string{"Content-Type", "application/x-www-form-urlencoded"},
			http.StatusUnsupportedMediaType,
		},
		"POST without a body": {
			"POST", "/darkrooms", "",
			[]string{"Content-Type", "application/json"},
			http.StatusBadRequest,
		},
		"POST of too much": {
			"POST", "/darkrooms", `{"name":"` + strings.Repeat("x", 1<<20) + `"}`, nil,
			http.StatusRequestEntityTooLarge,
		},
		"unknown dryRun":    {"POST", "/darkrooms?dryRun=Some", body, nil, http.StatusUnprocessableEntity},
		"unknown parameter": {"POST", "/darkrooms?dryrun=All", body, nil, http.StatusUnprocessableEntity},
		"POST of a list":    {"POST", "/darkrooms", "[]", nil, http.StatusBadRequest},
	})
}

func TestChangesOfAnOldOrUnnamedVersionAreRefused(t *testing.T) {
	t.Parallel()
	s, namespace, token, _ := startWithPhotos(t)
	one, body := path(namespace, "photos"), webFolder(namespace, "photos")
	checkRefusals(t, s, namespace, token, map[string]refusal{
		"PUT without If-Match":   {"PUT", one, body, nil, http.StatusPreconditionRequired},
		"PATCH without If-Match": {"PATCH", one, "{}", []string{"Content-Type", mergePatch}, http.StatusPreconditionRequired},
		"PUT of a form without If-Match": {
			"PUT", one, "a=b",
			[]string{"Content-Type", "application/x-www-form-urlencoded"},
			http.StatusPreconditionRequired, // before the body is read
		},
		"PUT of an old version": {"PUT", one, body, []string{"If-Match", `"1"`}, http.StatusPreconditionFailed},
		"PATCH of an old version": {
			"PATCH", one, "{}",
			[]string{"If-Match", `"1"`, "Content-Type", mergePatch},
			http.StatusPreconditionFailed,
		},
		"DELETE of an old version": {"DELETE", one, "", []string{"If-Match", `"1"`}, http.StatusPreconditionFailed},
	})
}

func TestChangesOfAnotherFormOrDarkroomAreRefused(t *testing.T) {
	t.Parallel()
	s, namespace, token, tag := startWithPhotos(t)
	one := path(namespace, "photos")
	checkRefusals(t, s, namespace, token, map[string]refusal{
		"PATCH as JSON": {"PATCH", one, "{}", []string{"If-Match", tag}, http.StatusUnsupportedMediaType},
		"PATCH as JSON patch": {
			"PATCH", one, "[]",
			[]string{"If-Match", tag, "Content-Type", "application/json-patch+json"},
			http.StatusUnsupportedMediaType,
		},
		"PUT of another name": {
			"PUT", one, webFolder(namespace, "other"),
			[]string{"If-Match", tag},
			http.StatusUnprocessableEntity,
		},
		"PUT of another namespace": {
			"PUT", one, webFolder("default", "photos"),
			[]string{"If-Match", tag},
			http.StatusUnprocessableEntity,
		},
		"PUT of a missing Darkroom": {
			"PUT", path(namespace, "none"), webFolder(namespace, "none"),
			[]string{"If-Match", tag},
			http.StatusNotFound,
		},
		"DELETE of a missing Darkroom": {"DELETE", path(namespace, "none"), "", nil, http.StatusNotFound},
	})
}

func TestMalformedRequestsAreRefused(t *testing.T) {
	t.Parallel()
	s, namespace, token, _ := startWithPhotos(t)
	checkRefusals(t, s, namespace, token, map[string]refusal{
		"a method that the route lacks": {"PUT", "/darkrooms", "{}", nil, http.StatusMethodNotAllowed},
		"no route":                      {"GET", "/nothing", "", nil, http.StatusNotFound},
		"an invalid name of a Darkroom": {"GET", path(namespace, "NO"), "", nil, http.StatusUnprocessableEntity},
		"limit out of bounds":           {"GET", "/darkrooms?limit=0", "", nil, http.StatusUnprocessableEntity},
		"an invalid label selector":     {"GET", "/darkrooms?labelSelector=a==b==c", "", nil, http.StatusBadRequest},
		"an invalid continue token":     {"GET", "/darkrooms?continue=xx", "", nil, http.StatusBadRequest},
	})
}

func TestAMethodThatARouteLacksIsRefusedWithTheOthers(t *testing.T) {
	t.Parallel()
	s, _, token := startForEditor(t)
	got := s.want(http.StatusMethodNotAllowed, token, "PUT", "/darkrooms", "{}")
	if allowed, want := got.header.Get("Allow"), "GET, HEAD, POST"; allowed != want {
		t.Errorf("got Allow %q, want %q", allowed, want)
	}
}

func TestADryRunShowsWhatWouldBeStored(t *testing.T) {
	t.Parallel()
	s, namespace, token, tag := startWithPhotos(t)
	got := s.want(http.StatusCreated, token, "POST", "/darkrooms?dryRun=All", webFolder(namespace, "dry"))
	if into[wire.Darkroom](t, got).Replicas == nil {
		t.Errorf("got %s, want the defaults of the cluster", got)
	}
	got = s.want(http.StatusOK, token, "PUT", path(namespace, "photos")+"?dryRun=All",
		strings.Replace(webFolder(namespace, "photos"), "/images", "/other", 1), "If-Match", tag)
	contains(t, "the dry run", got.body, "https://example.com/other")
}

func TestADryRunStoresNothing(t *testing.T) {
	t.Parallel()
	s, namespace, token, tag := startWithPhotos(t)
	one := path(namespace, "photos") + "?dryRun=All"
	s.want(http.StatusCreated, token, "POST", "/darkrooms?dryRun=All", webFolder(namespace, "dry"))
	s.want(http.StatusOK, token, "PUT", one, strings.Replace(webFolder(namespace, "photos"), "/images", "/other", 1),
		"If-Match", tag)
	s.want(http.StatusOK, token, "PATCH", one, `{"replicas":5}`, "If-Match", tag, "Content-Type", mergePatch)
	s.want(http.StatusNoContent, token, "DELETE", one, "")
	s.want(http.StatusNotFound, token, "GET", path(namespace, "dry"), "")
	if got := wire.ETag(stored(t, namespace, "photos")); got != tag {
		t.Errorf("got version %s, want %s: a dry run was stored", got, tag)
	}
}

func TestAnyOfTheVersionsInIfMatchIsEnough(t *testing.T) {
	t.Parallel()
	s, namespace, token, tag := startWithPhotos(t)
	for _, match := range []string{`"1", ` + tag, "*"} {
		s.want(http.StatusOK, token, "PUT", path(namespace, "photos"), webFolder(namespace, "photos"), "If-Match", match)
	}
}

func TestADarkroomIsShownUntilItsFinalizersAreGone(t *testing.T) {
	t.Parallel()
	s, namespace, token, _ := startWithPhotos(t)
	darkroom := stored(t, namespace, "photos")
	darkroom.Finalizers = []string{"deployments.example.com/uninstall"}
	expect.NoError(t, kube.Update(t.Context(), darkroom))
	s.want(http.StatusAccepted, token, "DELETE", path(namespace, "photos"), "", "If-Match", wire.ETag(darkroom))
	got := s.want(http.StatusOK, token, "GET", path(namespace, "photos"), "")
	if into[wire.Darkroom](t, got).DeletedAt == nil {
		t.Errorf("got %s, want deletedAt", got)
	}
}

func TestPagesOfAList(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	for name, vowel := range map[string]string{"d": "false", "b": "false", "a": "true", "c": "false", "e": "true"} {
		s.want(http.StatusCreated, token, "POST", "/darkrooms",
			strings.Replace(webFolder(namespace, name), `"source"`, `"labels":{"vowel":"`+vowel+`"},"source"`, 1))
	}
	var names []string
	next := ""
	for range 9 {
		page := into[apiserver.DarkroomList](t,
			s.want(http.StatusOK, token, "GET", "/darkrooms?limit=2&namespace="+namespace+next, ""))
		for _, darkroom := range page.Items {
			names = append(names, darkroom.Name)
		}
		if page.Continue == "" {
			break
		}
		next = "&continue=" + page.Continue
	}
	if want := []string{"a", "b", "c", "d", "e"}; !slices.Equal(names, want) {
		t.Errorf("pages have %q, want %q", names, want)
	}
	if vowels := listed(t, s, token, "?labelSelector=vowel%3Dtrue"); len(vowels) != 2 {
		t.Errorf("selector finds %q", vowels)
	}
}

func TestAnyVersionIsNeverStale(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	var group errgroup.Group
	for writer := range 2 {
		group.Go(func() error {
			for i := range 15 {
				patch := fmt.Sprintf(`{"labels":{"writer-%d":"%d"}}`, writer, i)
				got := s.call(token, "PATCH", path(namespace, "photos"), patch, "If-Match", "*", "Content-Type",
					"application/merge-patch+json")
				if got.status != http.StatusOK {
					return fmt.Errorf("answers %s", got)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	labels := into[wire.Darkroom](t, s.want(http.StatusOK, token, "GET", path(namespace, "photos"), "")).Labels
	if labels["writer-0"] != "14" || labels["writer-1"] != "14" {
		t.Errorf("a write is lost: %v", labels)
	}
}

// TestAnETagIsStaleAfterAChangeByUsers sends writes of other clients between a read and a write. A client's version is
// stale if and only if fields that clients can change have changed.
func TestAnETagIsStaleAfterAChangeByUsers(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	one := path(namespace, "photos")
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	for name, c := range map[string]struct {
		write  func(*v1alpha1.Darkroom)
		status bool
		stale  bool
	}{
		"status":                   {func(d *v1alpha1.Darkroom) { d.Status.Message += "more" }, true, false},
		"the operator's finalizer": {func(d *v1alpha1.Darkroom) { d.Finalizers = nil }, false, false},
		"the operator's annotation": {
			func(d *v1alpha1.Darkroom) { d.Annotations[v1alpha1.AnnotationInstallation] += "x" },
			false, false,
		},
		"kubectl's annotation": {
			func(d *v1alpha1.Darkroom) { d.Annotations[corev1.LastAppliedConfigAnnotation] += "x" },
			false, false,
		},
		"an annotation": {func(d *v1alpha1.Darkroom) { d.Annotations["note"] += "x" }, false, true},
		"a label": {
			func(d *v1alpha1.Darkroom) { d.Labels = map[string]string{"team": d.Labels["team"] + "x"} },
			false, true,
		},
		"a field of the spec": {
			func(d *v1alpha1.Darkroom) { d.Spec.Replicas = ptr.To(ptr.Deref(d.Spec.Replicas, 1) + 1) },
			false, true,
		},
		"a key that is never shown": {func(d *v1alpha1.Darkroom) {
			d.Spec.ExtraEnv = []corev1.EnvVar{{Name: "A", Value: fmt.Sprint(len(d.ResourceVersion), d.Generation)}}
		}, false, true},
		"nothing": {func(*v1alpha1.Darkroom) {}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			before := stored(t, namespace, "photos")
			after := before.DeepCopy()
			if after.Annotations == nil {
				after.Annotations = map[string]string{}
			}
			c.write(after)
			write := func() error { return kube.Update(t.Context(), after) }
			if c.status {
				write = func() error { return kube.Status().Update(t.Context(), after) }
			}
			expect.NoError(t, write())
			status, deletion := http.StatusOK, http.StatusNoContent
			if c.stale {
				status, deletion = http.StatusPreconditionFailed, http.StatusPreconditionFailed
			}
			eventually(t, "the server has the write", func() error {
				if got := s.call(token, "GET", one, "").header.Get("ETag"); got != wire.ETag(after) {
					return fmt.Errorf("ETag is %s, want %s", got, wire.ETag(after))
				}
				return nil
			})
			tag := []string{"If-Match", wire.ETag(before), "Content-Type", "application/merge-patch+json"}
			s.on(t).want(status, token, "PATCH", one+"?dryRun=All", `{"replicas":1}`, tag...)
			s.on(t).want(deletion, token, "DELETE", one+"?dryRun=All", "", "If-Match", wire.ETag(before))
			// Clients that show the status must see the change.
			cached := http.StatusNotModified
			if before.ResourceVersion != after.ResourceVersion {
				cached = http.StatusOK
			}
			s.on(t).want(cached, token, "GET", one, "", "If-None-Match", wire.ETag(before))
		})
	}
}

func TestDeletionOfOneVersion(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	editor := newEditor(t, namespace).token
	deleter := newUser(t, namespace, "deleter")
	deleter.may(namespace, []rbacv1.PolicyRule{{
		APIGroups: []string{v1alpha1.GroupVersion.Group},
		Resources: []string{"darkrooms"}, Verbs: []string{"list", "delete"},
	}})
	created := s.want(http.StatusCreated, editor, "POST", "/darkrooms", webFolder(namespace, "photos")).header.Get("ETag")
	changed := s.want(http.StatusOK, editor, "PATCH", path(namespace, "photos"), `{"replicas":2}`,
		"If-Match", created, "Content-Type", "application/merge-patch+json").header.Get("ETag")
	refused := problemOf(t, s.want(http.StatusForbidden, newUserWho(t, namespace, "viewer", canView).token, "DELETE",
		path(namespace, "photos"), "")).Detail
	if strings.Contains(refused, "unknown") || !strings.Contains(refused, "cannot delete") ||
		!strings.Contains(refused, "viewer") {
		t.Errorf("the detail is %q", refused)
	}
	problemOf(t, s.want(http.StatusPreconditionFailed, deleter.token, "DELETE",
		path(namespace, "photos"), "", "If-Match", created))
	// Only the permission to delete is needed.
	s.want(http.StatusNoContent, deleter.token, "DELETE", path(namespace, "photos"), "", "If-Match", changed)
}
