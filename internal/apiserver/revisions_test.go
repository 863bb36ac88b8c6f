package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

var canReadHistory = rbacv1.PolicyRule{
	APIGroups: []string{"apps"}, Resources: []string{"controllerrevisions"},
	Verbs: []string{"get", "list"},
}

// recordRevision stores the record of a revision of a Darkroom as the operator does.
func recordRevision(t *testing.T, darkroom *v1alpha1.Darkroom, number int, status string, spec *v1alpha1.DarkroomSpec) {
	t.Helper()
	author := "2026-01-02T00:00:00Z darkroom-page:alice"
	if number == 1 {
		author = "2026-01-01T00:00:00Z kubectl-create"
	}
	raw, err := json.Marshal(v1alpha1.RevisionData{Spec: *spec.Concealed()})
	expect.NoError(t, err)
	record := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: darkroom.Namespace, Name: v1alpha1.RevisionName(darkroom, number),
			Labels: map[string]string{
				v1alpha1.LabelDarkroom:    darkroom.Name,
				v1alpha1.LabelDarkroomUID: string(darkroom.UID),
			},
			Annotations: map[string]string{
				v1alpha1.AnnotationRevisionStatus: status,
				v1alpha1.AnnotationRevisionAuthor: author,
			},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(darkroom, v1alpha1.GroupVersionKind)},
		},
		Revision: int64(number),
	}
	record.Data.Raw = raw
	create(t, record)
}

// The revisions stored by withRevisions.
const (
	albumRevision        = 1 // the first one, with the sub-domain album
	otherServiceRevision = 2 // failed; contains keys for another service and a variable that no longer exists
	currentRevision      = 3
	predecessorRevision  = 4 // belongs to an earlier Darkroom of the same name
	repeatedRevision     = 5 // has the same settings as currentRevision
	missingRevision      = 9 // is not stored
)

// withRevisions starts a server and stores a Darkroom with its revisions. The token belongs to an editor who may read
// the history.
func withRevisions(t *testing.T) (s *server, darkroom *v1alpha1.Darkroom, token string) {
	t.Helper()
	s, namespace := start(t), newNamespace(t)
	user := newUser(t, namespace, "user")
	user.may(namespace, append([]rbacv1.PolicyRule{canReadHistory}, canEdit...))
	s.want(http.StatusCreated, user.token, "POST", "/darkrooms", `{"name":"photos","namespace":"`+namespace+`","subDomains":["photos"],
		"source":{"type":"S3","bucket":"b","region":"r","accessKey":"canary-access","secretKey":"canary-new"},
		"extraEnv":[{"name":"MODE","value":"canary-mode"},{"name":"EMPTY","value":""}]}`)
	darkroom = stored(t, namespace, "photos")
	first, other := darkroom.Spec.DeepCopy(), darkroom.Spec.DeepCopy()
	first.SubDomains, first.Source.SecretKey = []string{"album"}, "canary-old"
	other.Source.Endpoint, other.ExtraEnv[1].Value = "https://other.example.com", "canary-gone"
	recordRevision(t, darkroom, albumRevision, "deployed", first)
	recordRevision(t, darkroom, otherServiceRevision, "failed", other)
	recordRevision(t, darkroom, currentRevision, "deployed", &darkroom.Spec)
	recordRevision(t, darkroom, repeatedRevision, "deployed", &darkroom.Spec)
	earlier := darkroom.DeepCopy()
	earlier.UID = "another"
	recordRevision(t, earlier, predecessorRevision, "deployed", first)
	return s, darkroom, user.token
}

func TestRevisionsAreListedWithoutSecrets(t *testing.T) {
	t.Parallel()
	s, darkroom, token := withRevisions(t)
	answer := s.want(http.StatusOK, token, "GET", path(darkroom.Namespace, "photos")+"/revisions", "")
	if strings.Contains(answer.body, "canary") {
		t.Errorf("the response contains a secret: %s", answer.body)
	}
	items := into[apiserver.RevisionList](t, answer).Items
	if len(items) != 4 {
		t.Fatalf("the revisions are %s", answer.body)
	}
	for i, want := range []string{
		"5 deployed [photos] by ", // caused by the same write as the one before
		"3 superseded [photos] by ",
		"2 failed [photos] by darkroom-page:alice",
		"1 superseded [album] by kubectl-create",
	} {
		item, settings := items[i], ptr.Deref(items[i].Settings, wire.RevisionSettings{})
		got := fmt.Sprintf("%d %s %s by %s", item.Revision, item.Status, settings.SubDomains, item.ChangedBy)
		if got != want || item.CreatedAt == nil {
			t.Errorf("the revision is %q of %s, want %q", got, item.CreatedAt, want)
		}
	}
}

func TestARollBackRestoresTheSettingsOfARevisionAndKeepsWhatIsWriteOnly(t *testing.T) {
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
		t.Errorf("the response contains a secret: %s", answer.body)
	}
	now := stored(t, darkroom.Namespace, "photos")
	if now.Spec.SubDomains[0] != "album" || now.Spec.Source.SecretKey != "canary-new" ||
		now.Spec.ExtraEnv[0].Value != "canary-mode" {
		t.Errorf("it is rolled back to %+v", now.Spec)
	}
	s.want(http.StatusPreconditionFailed, token, "POST", one+"/rollback", `{"revision":3}`, "If-Match", tag)
	tag = answer.header.Get("ETag")
	for revision, status := range map[int]int{
		otherServiceRevision: http.StatusUnprocessableEntity,
		predecessorRevision:  http.StatusNotFound,
		missingRevision:      http.StatusNotFound,
		0:                    http.StatusUnprocessableEntity,
	} {
		body := fmt.Sprintf(`{"revision":%d}`, revision)
		refused := s.want(status, token, "POST", one+"/rollback", body, "If-Match", tag)
		if revision == otherServiceRevision {
			contains(t, "the answer", refused.body, "source.secretKey")
			contains(t, "the answer", refused.body, "extraEnv[1].value")
		}
	}
}

// Clients that lost the response to a write repeat the write as a dry run to find out whether it was done.
func TestAWriteThatIsDoneChangesNothing(t *testing.T) {
	t.Parallel()
	s, darkroom, token := withRevisions(t)
	one := path(darkroom.Namespace, darkroom.Name)
	body := s.want(http.StatusOK, token, "GET", one, "").body
	for name, c := range map[string]struct{ method, path, body, mediaType string }{
		"PUT":       {"PUT", one, strings.Replace(body, `"replicas":1`, `"replicas":4`, 1), "application/json"},
		"keys":      {"PATCH", one, `{"source":{"accessKey":"a","secretKey":"b"}}`, "application/merge-patch+json"},
		"PATCH":     {"PATCH", one, `{"labels":{"team":"a"},"annotations":{"note":"b"}}`, "application/merge-patch+json"},
		"roll-back": {"POST", one + "/rollback", `{"revision":1}`, "application/json"},
	} {
		done := s.want(http.StatusOK, token, c.method, c.path, c.body, "If-Match", "*", "Content-Type", c.mediaType)
		again := s.want(http.StatusOK, token, c.method, c.path+"?dryRun=All", c.body,
			"If-Match", done.header.Get("ETag"), "Content-Type", c.mediaType)
		if again.body != done.body {
			t.Errorf("%s: the dry run responds with %s, want %s", name, again.body, done.body)
		}
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
		"page": {
			token,
			[]string{"Sec-Fetch-Site", "same-origin"},
			"darkroom-page:system:serviceaccount:" + namespace + ":editor",
		},
		"curl":     {token, nil, "darkroom-apiserver:system:serviceaccount:" + namespace + ":editor"},
		"too-long": {long, nil, "darkroom-apiserver"}, // in the name of a field manager
	} {
		s.want(http.StatusCreated, c.token, "POST", "/darkrooms", webFolder(namespace, name), c.headers...)
		if got := stored(t, namespace, name).ManagedFields[0].Manager; got != c.want {
			t.Errorf("the field manager is %q, want %q", got, c.want)
		}
	}
}

// Viewers see the history on the page, and editors roll back, without permission to read Secrets.
func TestTheHistoryNeedsNoRightToSecrets(t *testing.T) {
	t.Parallel()
	s, darkroom, _ := withRevisions(t)
	one := path(darkroom.Namespace, "photos")
	viewer := newUserWho(t, darkroom.Namespace, "viewer", roleOf(t, "page/viewer").Rules)
	editor := newUserWho(t, darkroom.Namespace, "editor", roleOf(t, "page/editor").Rules)
	without := newUserWho(t, darkroom.Namespace, "without", canEdit)

	tag := s.want(http.StatusOK, viewer.token, "GET", one, "").header.Get("ETag")
	s.want(http.StatusOK, viewer.token, "GET", one+"/revisions", "")
	s.want(http.StatusForbidden, viewer.token, "POST", one+"/rollback", `{"revision":1}`, "If-Match", tag)
	for _, refused := range []answer{
		s.want(http.StatusForbidden, without.token, "GET", one+"/revisions", ""),
		s.want(http.StatusForbidden, without.token, "POST", one+"/rollback", `{"revision":1}`, "If-Match", tag),
	} {
		contains(t, "the answer", refused.body, "controllerrevisions")
	}
	s.want(http.StatusOK, editor.token, "POST", one+"/rollback", `{"revision":1}`, "If-Match", tag)
}

func TestALargeHistoryIsNotReadWhole(t *testing.T) {
	t.Parallel()
	s, darkroom, token := withRevisions(t)
	for i := range 9 {
		large := &v1alpha1.DarkroomSpec{Source: v1alpha1.Source{Bucket: strings.Repeat("large ", 200_000)}}
		recordRevision(t, darkroom, 10+i, "failed", large)
	}
	answer := s.want(http.StatusUnprocessableEntity, token, "GET", path(darkroom.Namespace, "photos")+"/revisions", "")
	contains(t, "the answer", answer.body, "8 MiB")
}
