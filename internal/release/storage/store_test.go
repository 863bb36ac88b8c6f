package storage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"helm.sh/helm/v3/pkg/chart"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	helmtime "helm.sh/helm/v3/pkg/time"
	helm4driver "helm.sh/helm/v4/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/controlplane"
)

var (
	kube  client.Client
	clock = clocktesting.NewFakePassiveClock(time.Unix(1_000_000, 0))
	typed *kubernetes.Clientset
	// lists counts the List requests for Secrets through typed, and requests counts all requests.
	lists, requests atomic.Int32
)

func TestMain(m *testing.M) {
	os.Exit(controlplane.Main(m, func(administrator *rest.Config) (err error) {
		counted := rest.CopyConfig(administrator)
		counted.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				requests.Add(1)
				if request.Method == http.MethodGet && path.Base(request.URL.Path) == "secrets" {
					lists.Add(1)
				}
				return next.RoundTrip(request)
			})
		})
		typed = kubernetes.NewForConfigOrDie(counted)
		kube, err = client.New(administrator, client.Options{})
		return err
	}))
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// uncached simulates a cache that never lags. It has the indexes of owners and releases, and contains the Secrets with
// or without the label of Darkrooms.
type uncached struct {
	client.Reader

	darkrooms bool
}

func (u uncached) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	options := (&client.ListOptions{}).ApplyOptions(opts)
	all := list.(*metav1.PartialObjectMetadataList)
	if err := u.Reader.List(ctx, all, client.InNamespace(options.Namespace)); err != nil {
		return err
	}
	all.Items = slices.DeleteFunc(all.Items, func(item metav1.PartialObjectMetadata) bool {
		_, labeled := item.Labels[v1alpha1.LabelDarkroom]
		if labeled != u.darkrooms {
			return true
		}
		if uid, found := options.FieldSelector.RequiresExactMatch(ownership.Index); found {
			return !slices.Contains(ownership.IndexFunc(&item), uid)
		}
		release, _ := options.FieldSelector.RequiresExactMatch(storage.Index)
		return !slices.Contains(storage.IndexFunc(&item), release)
	})
	return nil
}

// lagging is a cache that is still empty.
type lagging struct{ client.Reader }

func (lagging) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// revisions returns the revisions of a Darkroom for an operator that has just started.
func revisions(darkroom *v1alpha1.Darkroom) *storage.Revisions {
	return read(newStore(), darkroom)
}

func newStore() *storage.Store {
	return storage.New(typed.CoreV1(), typed.AppsV1(), uncached{kube, true}, uncached{kube, false}, clock)
}

func read(store *storage.Store, darkroom *v1alpha1.Darkroom) *storage.Revisions {
	return store.Of(darkroom, &storage.Memory{})
}

// newDarkroom returns a Darkroom in a new namespace, and its revisions.
func newDarkroom(t *testing.T) (*v1alpha1.Darkroom, *storage.Revisions) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := kube.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	darkroom := &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "photos", UID: "uid-1"}}
	return darkroom, revisions(darkroom)
}

func revisionOf(darkroom client.Object, version int, status helmrelease.Status) *helmrelease.Release {
	return &helmrelease.Release{
		Name: darkroom.GetName(), Namespace: darkroom.GetNamespace(), Version: version,
		Info:     &helmrelease.Info{Status: status, LastDeployed: helmtime.Time{Time: clock.Now()}},
		Chart:    &chart.Chart{Metadata: &chart.Metadata{Name: "darkroom", Version: "1.0.0"}},
		Manifest: "kind: Service",
	}
}

// byHand stores a revision as a Helm client does.
func byHand(t *testing.T, release *helmrelease.Release) {
	t.Helper()
	if err := driver.NewSecrets(typed.CoreV1().Secrets(release.Namespace)).Create(nameOf(release), release); err != nil {
		t.Fatal(err)
	}
}

// nameOf returns the name of the Secret of a revision.
func nameOf(release *helmrelease.Release) string {
	return fmt.Sprintf("sh.helm.release.v1.%s.v%d", release.Name, release.Version)
}

func mustCreate(t *testing.T, store *storage.Revisions, release *helmrelease.Release) {
	t.Helper()
	if err := store.Create(t.Context(), release); err != nil {
		t.Fatal(err)
	}
}

func secretsOf(t *testing.T, darkroom client.Object) []corev1.Secret {
	t.Helper()
	list, err := typed.CoreV1().Secrets(darkroom.GetNamespace()).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// unchanged returns a check that the Secrets of a Darkroom have not changed since.
func unchanged(t *testing.T, darkroom client.Object) (check func()) {
	t.Helper()
	before := secretsOf(t, darkroom)
	return func() {
		t.Helper()
		if diff := cmp.Diff(before, secretsOf(t, darkroom)); diff != "" {
			t.Errorf("foreign revisions changed (-before +after):\n%s", diff)
		}
	}
}

func TestForeignRevisionsAreNeitherReadNorDeleted(t *testing.T) {
	d, store := newDarkroom(t)
	for i, status := range []helmrelease.Status{
		helmrelease.StatusDeployed, helmrelease.StatusFailed, helmrelease.StatusPendingInstall, helmrelease.StatusUninstalled,
	} {
		byHand(t, revisionOf(d, 6+i, status)) // its first revisions were pruned
	}
	check := unchanged(t, d)
	if _, err := store.Last(t.Context()); !errors.Is(err, storage.ErrForeignRelease) {
		t.Errorf("Last: %v", err)
	}
	for _, own := range []bool{false, true} {
		if own {
			mustCreate(t, store, revisionOf(d, 1, helmrelease.StatusDeployed))
		}
		if _, err := store.Current(t.Context()); !errors.Is(err, storage.ErrForeignRelease) {
			t.Errorf("with revisions of the Darkroom: %t: Current returned %v", own, err)
		}
		if err := store.Prune(t.Context(), 1); err != nil {
			t.Error(err)
		}
		if found, err := store.Delete(t.Context()); err != nil || found != own {
			t.Errorf("Delete found revisions of the Darkroom: %t (%v)", found, err)
		}
		check()
	}
}

func TestARevisionThatReplacedOursIsNotOverwritten(t *testing.T) {
	d, store := newDarkroom(t)
	mustCreate(t, store, revisionOf(d, 1, helmrelease.StatusPendingInstall))
	ours := secretsOf(t, d)[0]
	if err := kube.Delete(t.Context(), &ours); err != nil {
		t.Fatal(err)
	}
	byHand(t, revisionOf(d, 1, helmrelease.StatusDeployed))
	check := unchanged(t, d)
	if err := store.Update(t.Context(), revisionOf(d, 1, helmrelease.StatusDeployed)); err == nil {
		t.Error("the update succeeded, want an error")
	}
	check()
}

// The caches may lag behind a release that a user has just installed.
func TestAForeignReleaseThatTheCachesDoNotShowIsNotOverwritten(t *testing.T) {
	d, _ := newDarkroom(t)
	store := read(storage.New(typed.CoreV1(), typed.AppsV1(), lagging{}, lagging{}, clock), d)
	byHand(t, revisionOf(d, 1, helmrelease.StatusDeployed))
	check := unchanged(t, d)
	if _, err := store.Last(t.Context()); !errors.Is(err, driver.ErrReleaseNotFound) {
		t.Fatalf("Last returned %v, so this test proves nothing", err)
	}
	err := store.Create(t.Context(), revisionOf(d, 1, helmrelease.StatusPendingInstall))
	if !errors.Is(err, storage.ErrForeignRelease) {
		t.Errorf("Create: %v", err)
	}
	check()
}

func TestRevisionsThatCannotBeDecodedAreDeletedAndDoNotPanic(t *testing.T) {
	d, store := newDarkroom(t)
	mustCreate(t, store, revisionOf(d, 1, helmrelease.StatusDeployed))
	secret := secretsOf(t, d)[0]
	secret.Data["release"] = []byte("junk")
	if err := kube.Update(t.Context(), &secret); err != nil {
		t.Fatal(err)
	}
	if _, err := revisions(d).Last(t.Context()); !errors.Is(err, driver.ErrReleaseNotFound) {
		t.Errorf("Last: %v", err)
	}
	if left := secretsOf(t, d); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestARevisionIsSeenWhenItsVersionIsFirstRead(t *testing.T) {
	d, store := newDarkroom(t)
	began := clock.Now()
	mustCreate(t, store, revisionOf(d, 1, helmrelease.StatusPendingUpgrade))
	clock.SetTime(began.Add(time.Hour))
	if _, err := store.Current(t.Context()); err != nil {
		t.Fatal(err)
	}
	if seen := store.Seen(); !seen.Equal(began) {
		t.Errorf("seen at %s, want %s", seen, began)
	}
	if err := store.Update(t.Context(), revisionOf(d, 1, helmrelease.StatusFailed)); err != nil {
		t.Fatal(err)
	}
	if seen := store.Seen(); !seen.Equal(clock.Now()) {
		t.Errorf("after another write seen at %s, want %s", seen, clock.Now())
	}
}

// TestARevisionKeepsTheSpecItWasMadeFrom updates a revision in every way after the Darkroom has changed.
func TestARevisionKeepsTheSpecItWasMadeFrom(t *testing.T) {
	d, store := newDarkroom(t)
	d.Spec.SubDomains = []string{"before"}
	release := revisionOf(d, 1, helmrelease.StatusPendingInstall)
	mustCreate(t, store, release)
	release.SetStatus(helmrelease.StatusDeployed, "")
	if err := store.Update(t.Context(), release); err != nil {
		t.Fatal(err)
	}

	d.Spec.SubDomains = []string{"after"}
	mustCreate(t, store, revisionOf(d, 2, helmrelease.StatusPendingUpgrade))
	release.SetStatus(helmrelease.StatusSuperseded, "")
	if err := store.Update(t.Context(), release); err != nil {
		t.Fatal(err)
	}

	for i, want := range []string{"before", "after"} {
		secret := secretsOf(t, d)[i]
		spec := v1alpha1.DarkroomSpec{}
		if err := json.Unmarshal(secret.Data[v1alpha1.RevisionSpec], &spec); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(spec.SubDomains, []string{want}) {
			t.Errorf("revision %d: got sub-domains %v in the stored spec", i+1, spec.SubDomains)
		}
	}
	if first := secretsOf(t, d)[0]; first.Labels["status"] != "superseded" {
		t.Errorf("got status %s of the first revision", first.Labels["status"])
	}
}

func TestRevisionsAreStoredAsByHelm(t *testing.T) {
	ours, store := newDarkroom(t)
	helms, _ := newDarkroom(t)
	release := revisionOf(ours, 1, helmrelease.StatusDeployed)
	release.Labels = map[string]string{"team": "photos"}
	mustCreate(t, store, release)
	byHelm := *release
	byHelm.Namespace = helms.Namespace
	byHand(t, &byHelm)

	got, want := secretsOf(t, ours)[0], secretsOf(t, helms)[0]
	if got.Name != want.Name || got.Type != want.Type {
		t.Errorf("got Secret %s of type %s, but Helm writes %s of type %s", got.Name, got.Type, want.Name, want.Type)
	}
	want.Labels["createdAt"] = got.Labels["createdAt"]
	want.Labels[v1alpha1.LabelDarkroom], want.Labels[v1alpha1.LabelDarkroomUID] = ours.Name, string(ours.UID)
	if diff := cmp.Diff(want.Labels, got.Labels); diff != "" {
		t.Errorf("labels (-Helm's +ours):\n%s", diff)
	}
	read, err := driver.NewSecrets(typed.CoreV1().Secrets(ours.Namespace)).Get(got.Name)
	if err != nil {
		t.Fatal(err)
	}
	read.Labels = release.Labels
	diff := cmp.Diff(release, read, cmpopts.EquateApproxTime(time.Second), cmpopts.IgnoreUnexported(chart.Chart{}))
	if diff != "" {
		t.Errorf("the release as Helm reads it (-written +read):\n%s", diff)
	}

	found, err := helm4driver.NewSecrets(typed.CoreV1().Secrets(ours.Namespace)).
		Query(map[string]string{"owner": "helm", "name": release.Name})
	if err != nil || len(found) != 1 {
		t.Fatalf("Helm 4 finds %d revisions, want 1: %v", len(found), err)
	}
	only4 := cmpopts.IgnoreMapEntries(func(key string, value any) bool { return value == "" || key == "schemamodtime" })
	if diff := cmp.Diff(fieldsOf(t, read), fieldsOf(t, found[0]), only4); diff != "" {
		t.Errorf("the release as Helm 4 reads it (-Helm 3 +Helm 4):\n%s", diff)
	}
}

// fieldsOf returns the fields of a release, of any version of Helm.
func fieldsOf(t *testing.T, release any) (fields map[string]any) {
	t.Helper()
	raw, err := json.Marshal(release)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}
