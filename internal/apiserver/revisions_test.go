package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// storeRevision stores a revision of a Darkroom as the operator does. Without a spec it is
// like that of another Helm client.
func storeRevision(t *testing.T, darkroom *v1alpha1.Darkroom, number int, status string, spec *v1alpha1.DarkroomSpec) {
	t.Helper()
	author := "2026-01-02T00:00:00Z darkroom-page:alice"
	if number == 1 {
		author = "2026-01-01T00:00:00Z kubectl-create"
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: darkroom.Namespace, Name: fmt.Sprintf("sh.helm.release.v1.%s.v%d", darkroom.Name, number),
			Labels: map[string]string{
				"owner": "helm", "name": darkroom.Name, "status": status, "version": fmt.Sprint(number),
				v1alpha1.LabelDarkroomUID: string(darkroom.UID),
			},
		},
		Type: "helm.sh/release.v1",
		Data: map[string][]byte{"release": []byte("H4sI")},
	}
	if spec != nil {
		raw, err := json.Marshal(spec)
		expect.NoError(t, err)
		secret.Data[v1alpha1.RevisionSpec] = raw
		secret.Data[v1alpha1.RevisionAuthor] = []byte(author)
	}
	create(t, secret)
}

// withRevisions starts a server, and stores a Darkroom with four revisions, and one of a Darkroom
// that had the name before, as a user who may read Secrets.
func withRevisions(t *testing.T) (s *server, darkroom *v1alpha1.Darkroom, token string) {
	t.Helper()
	s, namespace := start(t), newNamespace(t)
	user := newUser(t, namespace, "user")
	user.may(namespace, append([]rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list"}}}, canEdit...))
	s.want(http.StatusCreated, user.token, "POST", "/darkrooms", `{"name":"photos","namespace":"`+namespace+`","subDomains":["photos"],
		"source":{"type":"S3","bucket":"b","region":"r","accessKey":"canary-access","secretKey":"canary-new"},
		"extraEnv":[{"name":"MODE","value":"canary-mode"}]}`)
	darkroom = stored(t, namespace, "photos")
	first := darkroom.Spec.DeepCopy()
	first.SubDomains, first.Source.SecretKey = []string{"album"}, "canary-old"
	storeRevision(t, darkroom, 1, "superseded", first)
	storeRevision(t, darkroom, 2, "superseded", nil)
	storeRevision(t, darkroom, 3, "superseded", &darkroom.Spec)
	storeRevision(t, darkroom, 5, "deployed", &darkroom.Spec)
	earlier := darkroom.DeepCopy()
	earlier.UID = "another"
	storeRevision(t, earlier, 4, "deployed", first)
	return s, darkroom, user.token
}

func TestRevisionsAreListedWithoutSecrets(t *testing.T) {
	t.Parallel()
	s, darkroom, token := withRevisions(t)

	answer := s.want(http.StatusOK, token, "GET", path(darkroom.Namespace, "photos")+"/revisions", "")
	if strings.Contains(answer.body, "canary") {
		t.Errorf("the answer holds a secret: %s", answer.body)
	}
	items := into[apiserver.RevisionList](t, answer).Items
	if len(items) != 4 {
		t.Fatalf("the revisions are %s", answer.body)
	}
	for i, want := range []string{
		"5 deployed [photos] by  secrets differ: false", // of the same write as the one before
		"3 superseded [photos] by darkroom-page:alice secrets differ: false",
		"2 superseded [] by  secrets differ: false",
		"1 superseded [album] by kubectl-create secrets differ: true",
	} {
		item, settings := items[i], ptr.Deref(items[i].Settings, wire.RevisionSettings{})
		got := fmt.Sprintf("%d %s %s by %s secrets differ: %t", item.Revision, item.Status, settings.SubDomains, item.ChangedBy, item.SecretsDiffer)
		if got != want || item.CreatedAt == nil {
			t.Errorf("the revision is %q of %s, want %q", got, item.CreatedAt, want)
		}
	}
}

func TestARollBackRestoresTheSettingsAndTheSecretsOfARevision(t *testing.T) {
	t.Parallel()
	s, darkroom, token := withRevisions(t)
	one := path(darkroom.Namespace, "photos")
	tag := s.want(http.StatusOK, token, "GET", one, "").header.Get("ETag")

	s.want(http.StatusPreconditionRequired, token, "POST", one+"/rollback", `{"revision":1}`)
	s.want(http.StatusOK, token, "POST", one+"/rollback?dryRun=All", `{"revision":1}`, "If-Match", tag)
	if now := stored(t, darkroom.Namespace, "photos"); now.Spec.SubDomains[0] != "photos" {
		t.Errorf("a dry run changes the sub-domains to %v", now.Spec.SubDomains)
	}
	answer := s.want(http.StatusOK, token, "POST", one+"/rollback", `{"revision":1}`, "If-Match", tag)
	if strings.Contains(answer.body, "canary") {
		t.Errorf("the answer holds a secret: %s", answer.body)
	}
	now := stored(t, darkroom.Namespace, "photos")
	if now.Spec.SubDomains[0] != "album" || now.Spec.Source.SecretKey != "canary-old" || now.Spec.ExtraEnv[0].Value != "canary-mode" {
		t.Errorf("it is rolled back to %+v", now.Spec)
	}
	s.want(http.StatusPreconditionFailed, token, "POST", one+"/rollback", `{"revision":3}`, "If-Match", tag)

	tag = answer.header.Get("ETag")
	for revision, status := range map[string]int{
		"2": http.StatusUnprocessableEntity, // has no settings
		"4": http.StatusNotFound,            // of another Darkroom
		"9": http.StatusNotFound,
		"0": http.StatusUnprocessableEntity,
	} {
		s.want(status, token, "POST", one+"/rollback", `{"revision":`+revision+`}`, "If-Match", tag)
	}
}

func TestAWriteNamesItsUserAndWhetherItWasOnThePage(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	long := newUserWho(t, namespace, strings.Repeat("long", 20), canEdit).token
	for name, c := range map[string]struct {
		token   string
		headers []string
		want    string
	}{
		"page":     {token, []string{"Sec-Fetch-Site", "same-origin"}, "darkroom-page:system:serviceaccount:" + namespace + ":editor"},
		"curl":     {token, nil, "darkroom-apiserver:system:serviceaccount:" + namespace + ":editor"},
		"too-long": {long, nil, "darkroom-apiserver"}, // for the name of a field manager
	} {
		s.want(http.StatusCreated, c.token, "POST", "/darkrooms", webFolder(namespace, name), c.headers...)
		if got := stored(t, namespace, name).ManagedFields[0].Manager; got != c.want {
			t.Errorf("the field manager is %q, want %q", got, c.want)
		}
	}
}

func TestRevisionsNeedTheRightToSecrets(t *testing.T) {
	t.Parallel()
	s, darkroom, _ := withRevisions(t)
	editor := newEditor(t, darkroom.Namespace)
	one := path(darkroom.Namespace, "photos")
	tag := s.want(http.StatusOK, editor.token, "GET", one, "").header.Get("ETag")
	for _, refused := range []answer{
		s.want(http.StatusForbidden, editor.token, "GET", one+"/revisions", ""),
		s.want(http.StatusForbidden, editor.token, "POST", one+"/rollback", `{"revision":1}`, "If-Match", tag),
	} {
		contains(t, "the answer", refused.body, "secrets")
	}
}

func TestALargeHistoryIsNotReadWhole(t *testing.T) {
	t.Parallel()
	s, darkroom, token := withRevisions(t)
	for i := range 9 {
		large := &v1alpha1.DarkroomSpec{Source: v1alpha1.Source{SecretKey: strings.Repeat("canary ", 100_000)}}
		storeRevision(t, darkroom, 10+i, "failed", large)
	}
	answer := s.want(http.StatusUnprocessableEntity, token, "GET", path(darkroom.Namespace, "photos")+"/revisions", "")
	contains(t, "the answer", answer.body, "8 MiB")
}
