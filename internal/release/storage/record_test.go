package storage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
)

// recordsOf returns the records of a Darkroom as text, by name.
func recordsOf(t *testing.T, darkroom *v1alpha1.Darkroom) map[string]string {
	t.Helper()
	list, err := typed.AppsV1().ControllerRevisions(darkroom.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for i := range list.Items {
		record := &list.Items[i]
		data := v1alpha1.RevisionData{}
		if err := json.Unmarshal(record.Data.Raw, &data); err != nil {
			t.Fatal(err)
		}
		if !ownership.Owns(darkroom, record) {
			t.Errorf("record %s does not belong to the Darkroom", record.Name)
		}
		_, by, _ := strings.Cut(record.Annotations[v1alpha1.AnnotationRevisionAuthor], "Z ")
		out[record.Name] = fmt.Sprintf("%d %s %v by %s", record.Revision,
			record.Annotations[v1alpha1.AnnotationRevisionStatus], data.Spec.SubDomains, by)
	}
	return out
}

func mustRecord(t *testing.T, store *storage.Revisions, release *helmrelease.Release) {
	t.Helper()
	if err := store.Record(t.Context(), release); err != nil {
		t.Fatal(err)
	}
}

func wantRecords(t *testing.T, darkroom *v1alpha1.Darkroom, want map[string]string) {
	t.Helper()
	if got := recordsOf(t, darkroom); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got records\n%v, want\n%v", got, want)
	}
}

func TestARecordHasTheSettingsTheAuthorAndTheOutcomeOfItsRevision(t *testing.T) {
	d, store := newDarkroom(t)
	d.Spec.SubDomains, d.ManagedFields = []string{"before"}, writtenBy("before")
	mustRecord(t, store, revisionOf(d, 1, helmrelease.StatusFailed))
	wantRecords(t, d, map[string]string{"photos-uid-v1": "1 failed [before] by before"})

	mustRecord(t, store, revisionOf(d, 1, helmrelease.StatusDeployed)) // a retry
	d.Spec.SubDomains, d.ManagedFields = []string{"after"}, writtenBy("after")
	mustRecord(t, store, revisionOf(d, 2, helmrelease.StatusDeployed))
	wantRecords(t, d, map[string]string{
		"photos-uid-v1": "1 deployed [before] by before",
		"photos-uid-v2": "2 deployed [after] by after",
	})

	// After `helm uninstall`, the same number is used again.
	mustRecord(t, store, revisionOf(d, 1, helmrelease.StatusDeployed))
	wantRecords(t, d, map[string]string{
		"photos-uid-v1": "1 deployed [after] by after",
		"photos-uid-v2": "2 deployed [after] by after",
	})
}

func TestARecordHasNoCredentials(t *testing.T) {
	d, store := newDarkroom(t)
	d.Spec.Source = v1alpha1.Source{AccessKey: "canary", SecretKey: "canary"}
	d.Spec.ExtraEnv = []corev1.EnvVar{{Name: "TOKEN", Value: "canary"}, {Name: "EMPTY"}}
	mustRecord(t, store, revisionOf(d, 1, helmrelease.StatusDeployed))
	record, err := typed.AppsV1().ControllerRevisions(d.Namespace).Get(t.Context(), "photos-uid-v1", metav1.GetOptions{})
	if err != nil || strings.Contains(record.String(), "canary") ||
		strings.Count(string(record.Data.Raw), v1alpha1.Concealed) != 3 {
		t.Errorf("got record %s (%v)", record, err)
	}
	if d.Spec.Source.SecretKey != "canary" {
		t.Error("the Darkroom itself was modified")
	}
}

func TestRecordsAreRemovedWithTheirRevisions(t *testing.T) {
	d, store := newDarkroom(t)
	for version := 1; version <= 4; version++ {
		mustCreate(t, store, revisionOf(d, version, helmrelease.StatusSuperseded))
		mustRecord(t, store, revisionOf(d, version, helmrelease.StatusDeployed))
	}
	if err := store.Prune(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	wantRecords(t, d, map[string]string{"photos-uid-v3": "3 deployed [] by ", "photos-uid-v4": "4 deployed [] by "})
	if pruned, err := store.PruneOldest(t.Context()); err != nil || !pruned {
		t.Fatalf("pruned: %t (%v)", pruned, err)
	}
	wantRecords(t, d, map[string]string{"photos-uid-v4": "4 deployed [] by "})
	if found, err := store.Delete(t.Context()); err != nil || !found {
		t.Fatalf("found: %t (%v)", found, err)
	}
	wantRecords(t, d, map[string]string{})
}

func TestAForeignControllerRevisionIsNeitherOverwrittenNorDeleted(t *testing.T) {
	d, store := newDarkroom(t)
	foreign := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: "photos-uid-v1", Labels: map[string]string{v1alpha1.LabelDarkroom: d.Name}},
		Revision:   7,
	}
	foreign.Data.Raw = []byte(`{}`)
	records := typed.AppsV1().ControllerRevisions(d.Namespace)
	if _, err := records.Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	mustCreate(t, store, revisionOf(d, 1, helmrelease.StatusSuperseded))
	mustCreate(t, store, revisionOf(d, 2, helmrelease.StatusDeployed))
	err := store.Record(t.Context(), revisionOf(d, 1, helmrelease.StatusDeployed))
	if !errors.Is(err, storage.ErrNotRecorded) {
		t.Errorf("Record: %v", err)
	}
	if err := store.Prune(t.Context(), 1); err != nil {
		t.Error(err)
	}
	now, err := records.Get(t.Context(), foreign.Name, metav1.GetOptions{})
	if err != nil || now.Revision != 7 || len(now.Annotations) > 0 {
		t.Errorf("the foreign record is now %v (%v)", now, err)
	}
}

// meanwhile simulates another client that takes over each record after it was read.
type meanwhile struct {
	appsv1client.ControllerRevisionsGetter
}

func (m meanwhile) ControllerRevisions(namespace string) appsv1client.ControllerRevisionInterface {
	return takenOver{m.ControllerRevisionsGetter.ControllerRevisions(namespace)}
}

type takenOver struct {
	appsv1client.ControllerRevisionInterface
}

func (o takenOver) Get(
	ctx context.Context, name string, options metav1.GetOptions,
) (*appsv1.ControllerRevision, error) {
	read, err := o.ControllerRevisionInterface.Get(ctx, name, options)
	if err == nil {
		taken := read.DeepCopy()
		taken.OwnerReferences = nil
		_, err = o.Update(ctx, taken, metav1.UpdateOptions{})
	}
	return read, err
}

func TestARecordThatIsTakenOverMeanwhileIsNeitherOverwrittenNorDeleted(t *testing.T) {
	for what, write := range map[string]func(*v1alpha1.Darkroom, *storage.Revisions) error{
		"a retry": func(d *v1alpha1.Darkroom, store *storage.Revisions) error {
			return store.Record(t.Context(), revisionOf(d, 1, helmrelease.StatusDeployed))
		},
		"other settings": func(d *v1alpha1.Darkroom, store *storage.Revisions) error {
			d.Spec.SubDomains = []string{"other"}
			return store.Record(t.Context(), revisionOf(d, 1, helmrelease.StatusDeployed))
		},
		"pruning": func(d *v1alpha1.Darkroom, store *storage.Revisions) error {
			mustCreate(t, store, revisionOf(d, 1, helmrelease.StatusSuperseded))
			mustCreate(t, store, revisionOf(d, 2, helmrelease.StatusDeployed))
			return store.Prune(t.Context(), 1)
		},
		"deletion": func(d *v1alpha1.Darkroom, store *storage.Revisions) error {
			mustCreate(t, store, revisionOf(d, 1, helmrelease.StatusDeployed))
			_, err := store.Delete(t.Context())
			return err
		},
	} {
		d, store := newDarkroom(t)
		mustRecord(t, store, revisionOf(d, 1, helmrelease.StatusFailed))
		store = read(storage.New(typed.CoreV1(), meanwhile{typed.AppsV1()}, uncached{kube, true},
			uncached{kube, false}, clock), d)
		if err := write(d, store); !apierrors.IsConflict(err) {
			t.Errorf("%s: %v", what, err)
		}
		now, err := typed.AppsV1().ControllerRevisions(d.Namespace).Get(t.Context(), "photos-uid-v1", metav1.GetOptions{})
		if err != nil || len(now.OwnerReferences) > 0 || now.Annotations[v1alpha1.AnnotationRevisionStatus] != "failed" {
			t.Errorf("%s: the record is now %v (%v)", what, now, err)
		}
	}
}

func TestTheLastWriterOfTheSpecIsTheAuthor(t *testing.T) {
	entry := func(manager, subresource, fields string, second int64) metav1.ManagedFieldsEntry {
		at := metav1.NewTime(time.Unix(second, 0))
		return metav1.ManagedFieldsEntry{
			Manager: manager, Subresource: subresource,
			FieldsV1: metav1.NewFieldsV1(fields), Time: &at,
		}
	}
	entries := []metav1.ManagedFieldsEntry{
		entry("kubectl-create", "", `{"f:spec":{"f:source":{}}}`, 1),
		entry("kubectl", "", `{"f:spec":{"f:replicas":{}}}`, 3),
		entry("darkroom-page:alice", "", `{"f:metadata":{},"f:spec":{"f:version":{}}}`, 2),
		entry("darkroom-status", "status", `{"f:status":{}}`, 5),
		entry("darkroom-operator", "", `{"f:metadata":{"f:finalizers":{}}}`, 6),
		{Manager: "without-fields"},
	}
	last := v1alpha1.LastWriter(entries)
	if len(last) != 1 || last[0].Manager != "kubectl" || last[0].FieldsV1.GetRawString() != `{"f:spec":{}}` {
		t.Fatalf("got last writer %+v", last)
	}
	if again := v1alpha1.LastWriter(last); len(again) != 1 || again[0].Manager != "kubectl" {
		t.Errorf("got cached writer %+v", again)
	}
	if none := v1alpha1.LastWriter(entries[3:]); none != nil {
		t.Errorf("without a writer of the spec: got %+v", none)
	}
}

// writtenBy returns the managed fields of a Darkroom whose spec was last written by a manager.
func writtenBy(manager string) []metav1.ManagedFieldsEntry {
	return []metav1.ManagedFieldsEntry{{
		Manager: manager, Time: &metav1.Time{Time: clock.Now()},
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`),
	}}
}
