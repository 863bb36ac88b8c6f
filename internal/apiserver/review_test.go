package apiserver_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/outcome"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// The manifest omits the secrets that are sent or stored.
func TestReviewShowsTheManifestThatIsInstalled(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	one := path(namespace, "photos")
	review := func(body string) string {
		t.Helper()
		return into[apiserver.Review](t, s.want(http.StatusOK, token, "POST", one+"/review", body)).Manifest
	}
	body := withSecrets(namespace, "photos")
	sent := review(body)
	problemOf(t, s.want(http.StatusNotFound, token, "GET", one+"/manifest", ""))
	s.want(http.StatusCreated, token, "POST", "/darkrooms", body)
	stays := review(`{"source":{"type":"S3","bucket":"b","region":"r"},"gate":{},
		"additionalSources":[{"name":"old","fallback":true,"type":"S3","bucket":"b","region":"r"}],"subDomains":["x"],
		"extraEnv":[{"name":"PASSWORD"}]}`)
	mustNotLeak(t, "the review", sent+stays)
	if stored := s.want(http.StatusOK, token, "GET", one+"/manifest", "").body; sent != stored || stays != stored ||
		!strings.Contains(stored, "kind: Deployment") || strings.Count(stored, "REDACTED") < 3 {
		t.Errorf("before it was stored the manifest was\n%s\nthen\n%s\nand it is\n%s", sent, stays, stored)
	}
	bad := problemOf(t, s.want(http.StatusUnprocessableEntity, token, "POST", one+"/review",
		`{"source":{"type":"S3","bucket":"b"},"subDomains":["x"]}`))
	if !slices.ContainsFunc(bad.Errors, func(f problem.Field) bool { return f.Location == "body.source.region" }) {
		t.Errorf("the problem is %+v", bad)
	}
	problemOf(t, s.want(http.StatusUnprocessableEntity, token, "POST", one+"/review", webFolder(namespace, "other")))
	stranger := newUser(t, namespace, "stranger")
	problemOf(t, s.want(http.StatusForbidden, stranger.token, "POST", one+"/review", body))
}

// reviewed returns the outcome that a server predicts.
func (s *server) reviewed(token, namespace, name, body string) outcome.Outcome {
	s.t.Helper()
	return into[apiserver.Review](s.t, s.want(http.StatusOK, token, "POST", path(namespace, name)+"/review", body)).Outcome
}

const withTwoHosts = `{"name":%q,"namespace":%q,"source":{"baseUrl":"https://example.com"},"subDomains":[%q,%q]}`

// startWithTakenHost starts a server for an editor of namespace. Another namespace has the host of the sub-domain taken.
func startWithTakenHost(t *testing.T) (s *server, namespace, token, taken, other string) {
	t.Helper()
	s, namespace, token = startForEditor(t)
	other = newNamespace(t)
	taken = "taken-" + other
	claim(t, taken+".darkroom.example.com", other, "first")
	return s, namespace, token, taken, other
}

func TestAReviewShowsWhoHasEachHost(t *testing.T) {
	t.Parallel()
	s, namespace, editor, taken, other := startWithTakenHost(t)
	s.want(http.StatusCreated, editor, "POST", "/darkrooms",
		fmt.Sprintf(withTwoHosts, "mine", namespace, "mine-"+namespace, "more-"+namespace))
	claim(t, "mine-"+namespace+".darkroom.example.com", namespace, "mine")
	both := newUser(t, namespace, "both")
	both.may(namespace, canView)
	both.may(other, canView)
	for name, c := range map[string]struct{ token, darkroom, host, want string }{
		"the owner is not named": {
			editor, "mine", "mine-" + namespace,
			fmt.Sprintf("[{mine-%s.darkroom.example.com own } {%s.darkroom.example.com taken }]", namespace, taken),
		},
		"the owner is named to users who may see it": {
			both.token, "new", "free-" + namespace,
			fmt.Sprintf("[{free-%s.darkroom.example.com free } {%s.darkroom.example.com taken %s/first}]",
				namespace, taken, other),
		},
	} {
		t.Run(name, func(t *testing.T) {
			body := fmt.Sprintf(withTwoHosts, c.darkroom, namespace, c.host, taken)
			got := s.on(t).reviewed(c.token, namespace, c.darkroom, body).Hosts
			expect.Equal(t, "hosts", c.want, fmt.Sprint(got))
		})
	}
}

func TestADryRunWarnsOfATakenHostAndAWriteDoesNot(t *testing.T) {
	t.Parallel()
	s, namespace, editor, taken, _ := startWithTakenHost(t)
	body := fmt.Sprintf(withTwoHosts, "new", namespace, "free-"+namespace, taken)
	got := s.want(http.StatusCreated, editor, "POST", "/darkrooms?dryRun=All", body).header.Values("Warning")
	warning := `299 - "host ` + taken + `.darkroom.example.com is held by another Darkroom, which keeps it"`
	expect.Equal(t, "warnings of a dry run", []string{warning}, got)
	got = s.want(http.StatusCreated, editor, "POST", "/darkrooms", body).header.Values("Warning")
	expect.Equal(t, "warnings of a write", []string(nil), got)
	patched := s.want(http.StatusOK, editor, "PATCH", path(namespace, "new")+"?dryRun=All",
		`{"subDomains":["`+taken+`"]}`, "Content-Type", mergePatch, "If-Match", "*")
	contains(t, "the warning of a patch", patched.header.Get("Warning"), taken)
}

func TestWithoutAccessToLeasesNoHostCountsAsFree(t *testing.T) {
	t.Parallel()
	_, namespace, editor, taken, other := startWithTakenHost(t)
	for name, leases := range map[string]string{"no namespace of Leases": "", "another namespace": other} {
		s := start(t, func(o *apiserver.Options) { o.LeaseNamespace = leases })
		body := fmt.Sprintf(withTwoHosts, "new", namespace, "free-"+namespace, taken)
		for _, got := range s.reviewed(editor, namespace, "new", body).Hosts {
			expect.Equal(t, name+": the state of "+got.Host, "unknown", got.State)
		}
	}
}

// claim gives a host to a Darkroom.
func claim(t *testing.T, host, namespace, name string) {
	t.Helper()
	holder := namespace + "/" + name
	create(t, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceDefault, Name: host, Labels: map[string]string{v1alpha1.LabelHost: "true"},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder},
	})
}

func TestReviewOfSecrets(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	viewer, reader := newUserWho(t, namespace, "viewer", canView).token, newEditor(t, namespace)
	reader.may(namespace,
		append([]rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}},
			canView...))
	create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "keys"},
		StringData: map[string]string{"accessKey": "very-secret-value"},
	})
	body := func(secret string) string {
		return `{"source":{"type":"S3","bucket":"b","region":"eu-west-2","credentialsSecretRef":{"name":"` + secret +
			`"}},"subDomains":["a"]}`
	}
	for name, c := range map[string]struct{ token, secret, want string }{
		"a key is missing":   {reader.token, "keys", "keys found: accessKey found, secretKey missing"},
		"there is none":      {reader.token, "none", "none missing: accessKey missing, secretKey missing"},
		"may not be read":    {viewer, "keys", "keys unknown: accessKey unknown, secretKey unknown"},
		"may not be guessed": {viewer, "none", "none unknown: accessKey unknown, secretKey unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			got := secretsIn(s.on(t).reviewed(c.token, namespace, "photos", body(c.secret)))
			expect.Equal(t, "the Secrets", map[string]string{"source.credentialsSecretRef": c.want}, got)
		})
	}
}

// secretsIn returns the Secrets of an outcome with the states of their keys, by field.
func secretsIn(reviewed outcome.Outcome) map[string]string {
	out := map[string]string{}
	for _, secret := range reviewed.Secrets {
		var keys []string
		for _, key := range secret.Keys {
			keys = append(keys, key.Name+" "+key.State)
		}
		out[strings.TrimPrefix(secret.Field, "body.")] = secret.Name + " " + secret.State + ": " + strings.Join(keys, ", ")
	}
	return out
}

func TestReviewOfPods(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	with := func(more string) string {
		return `{"name":"photos","namespace":"` + namespace +
			`","source":{"baseUrl":"https://example.com"},"subDomains":["a"]` + more + `}`
	}
	review := func(body string) string { return s.reviewed(token, namespace, "photos", body).Pods }
	if got := review(with("")); got != "create" {
		t.Errorf("pods of a new Darkroom are %q", got)
	}
	s.want(http.StatusCreated, token, "POST", "/darkrooms", with(""))
	variable := with(`,"extraEnv":[{"name":"A","value":"b"}]`)
	for body, want := range map[string]string{
		with(""): "keep", strings.Replace(with(""), `["a"]`, `["a","b"]`, 1): "keep", with(`,"replicas":3`): "keep",
		with(`,"version":"0.4.1"`): "roll", strings.Replace(with(""), "example.com", "example.org", 1): "roll",
		variable: "roll",
	} {
		if got := review(body); got != want {
			t.Errorf("pods of %s are %q, want %q", body, got, want)
		}
	}
	s.want(http.StatusOK, token, "PUT", path(namespace, "photos"), variable, "If-Match", "*")
	if got := review(variable); got != "unknown" {
		t.Errorf("with a value that may differ pods are %q", got)
	}
}
