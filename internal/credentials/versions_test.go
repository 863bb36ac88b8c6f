package credentials

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// town contains the Secrets of a namespace, live and cached, and the Deployment of a Darkroom.
type town struct {
	client.Reader

	live, cached map[string]*corev1.Secret
	deployment   *appsv1.Deployment
	reads        int
	failure      error
	version      int
}

var errGone = errors.New("the API server is gone")

// Get implements client.Reader.
func (w *town) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	switch object := object.(type) {
	case *corev1.Secret:
		w.reads++
		if secret := w.live[key.Name]; w.failure != nil || secret != nil {
			if secret != nil {
				secret.DeepCopyInto(object)
			}
			return w.failure
		}
	case *appsv1.Deployment:
		if w.deployment != nil {
			w.deployment.DeepCopyInto(object)
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

// List implements client.Reader.
func (w *town) List(context.Context, client.ObjectList, ...client.ListOption) error { return errGone }

// find finds a Secret in the cache.
func (w *town) find(_ context.Context, key types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
	if secret := w.cached[key.Name]; secret != nil && key.Namespace == "team-a" {
		return &metav1.PartialObjectMetadata{ObjectMeta: secret.ObjectMeta}, nil
	}
	return nil, nil //nolint:nilnil // not found
}

// write stores a Secret with a new resource version.
func (w *town) write(name string, uid types.UID, data map[string]string) {
	w.version++
	secret := secretOf(uid, data)
	secret.Name, secret.ResourceVersion = name, fmt.Sprint(w.version)
	w.live[name] = secret
}

// twoSources is a Darkroom whose sources reference the Secrets "one" and "two".
func twoSources() *v1alpha1.Darkroom {
	builder := darkrooms.New("photos", "team-a").UID("d").S3("photos", "eu-west-1").CredentialsSecret("one")
	other := builder.Obj().Spec.Source
	other.CredentialsSecretRef = other.CredentialsSecretRef.DeepCopy()
	other.CredentialsSecretRef.Name = "two"
	return builder.Spec(func(s *v1alpha1.DarkroomSpec) {
		s.AdditionalSources = []v1alpha1.AdditionalSource{{Name: "two", Path: "/two", Source: other}}
	}).Obj()
}

// The version is a digest of the used data of the Secrets. A missing Secret contributes its last data. The version
// depends neither on the cache nor on restarts. A Secret is read only if it has changed.
func TestAVersionFollowsTheSecrets(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		w := &town{live: map[string]*corev1.Secret{}, cached: map[string]*corev1.Secret{}}
		darkroom := twoSources()
		used := values.CredentialsOf(&darkroom.Spec)
		if len(used) != 2 {
			t.Fatalf("got %+v as used Secrets", used)
		}
		key := client.ObjectKeyFromObject(darkroom)
		versions := &Versions{Find: w.find, Cached: w, Uncached: w}
		last := make([]string, len(used)) // the digests in the pod template
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			of := rapid.IntRange(0, 1).Draw(t, "secret")
			name := used[of].Name
			value := rapid.SampledFrom([]string{"x", "y"})
			switch rapid.SampledFrom([]string{"write", "write", "delete", "restart", "forget", "fail"}).Draw(t, "step") {
			case "write":
				data := map[string]string{"unused": value.Draw(t, "unused")}
				for _, key := range used[of].Keys {
					data[key] = value.Draw(t, key)
				}
				w.write(name, types.UID(value.Draw(t, "uid")), data)
			case "delete":
				delete(w.live, name)
			case "restart":
				versions = &Versions{Find: w.find, Cached: w, Uncached: w}
			case "forget":
				versions.Forget(key)
			case "fail":
				w.failure = errGone
				before := w.reads
				if _, err := versions.Version(t.Context(), darkroom); w.reads > before && !errors.Is(err, errGone) {
					t.Fatalf("a failed read: got error %v", err)
				}
				w.failure = nil
			}
			w.cached = maps.Clone(w.live)
			version, err := versions.Version(t.Context(), darkroom)
			if err != nil {
				t.Fatal(err)
			}
			want := slices.Clone(last)
			for i := range used {
				if secret := w.live[used[i].Name]; secret != nil {
					want[i] = digest(secret, used[i].Keys)
				}
			}
			if joined := strings.Join(want, separator); version != joined {
				t.Fatalf("got version %q, want %q", version, joined)
			}
			last = want
			w.deployment = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(darkroom, v1alpha1.GroupVersionKind)},
			}}
			w.deployment.Spec.Template.Annotations = map[string]string{values.AnnotationCredentials: version}
			missing := len(used) - len(w.live)
			before := w.reads
			again, err := versions.Version(t.Context(), darkroom)
			if err != nil || again != version || w.reads > before+missing {
				t.Fatalf("second call: got version %q, %d reads and error %v", again, w.reads-before, err)
			}
		}
	})
}

// A Secret that was created together with the Darkroom is not cached yet.
func TestASecretThatTheCacheLacksIsRead(t *testing.T) {
	for name, find := range map[string]func(context.Context, types.NamespacedName) (*metav1.PartialObjectMetadata, error){
		"the cache lags": func(context.Context, types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
			return nil, nil //nolint:nilnil // not found
		},
		"no cache": nil,
	} {
		t.Run(name, func(t *testing.T) {
			w := &town{live: map[string]*corev1.Secret{}}
			w.write("one", "u", map[string]string{"accessKey": "a"})
			w.write("two", "u", nil)
			versions := &Versions{Find: find, Cached: w, Uncached: w}
			first, err := versions.Version(t.Context(), twoSources())
			if err != nil || strings.Trim(first, separator) == "" || w.reads != 2 {
				t.Fatalf("got version %q after %d reads (%v)", first, w.reads, err)
			}
			delete(w.live, "one") // it is not cached, so the last read counts
			if again, err := versions.Version(t.Context(), twoSources()); err != nil || again != first || w.reads != 2 {
				t.Errorf("got version %q after %d reads (%v)", again, w.reads, err)
			}
		})
	}
}

func TestTheVersionOfAForeignDeploymentIsNotUsed(t *testing.T) {
	w := &town{live: map[string]*corev1.Secret{}, deployment: &appsv1.Deployment{}}
	w.deployment.Spec.Template.Annotations = map[string]string{values.AnnotationCredentials: "of.others"}
	versions := &Versions{Find: w.find, Cached: w, Uncached: w}
	version, err := versions.Version(t.Context(), twoSources())
	expect.NoError(t, err)
	if strings.Trim(version, separator) != "" {
		t.Errorf("got version %q, want none", version)
	}
}

// A version with a different number of parts belongs to another spec.
func TestTheVersionOfOtherSourcesIsNotUsed(t *testing.T) {
	w := &town{live: map[string]*corev1.Secret{}, deployment: &appsv1.Deployment{}}
	darkroom := twoSources()
	w.deployment.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(darkroom, v1alpha1.GroupVersionKind)}
	w.deployment.Spec.Template.Annotations = map[string]string{values.AnnotationCredentials: "one"}
	versions := &Versions{Find: w.find, Cached: w, Uncached: w}
	version, err := versions.Version(t.Context(), darkroom)
	expect.NoError(t, err)
	if strings.Trim(version, separator) != "" {
		t.Errorf("got version %q, want none", version)
	}
}

func TestTheDarkroomsThatReferenceASecretAreFound(t *testing.T) {
	scheme := runtime.NewScheme()
	expect.NoError(t, v1alpha1.AddToScheme(scheme))
	builder := fake.NewClientBuilder().WithScheme(scheme)
	expect.NoError(t, Index(t.Context(),
		indexer(func(name string, extract client.IndexerFunc) { builder.WithIndex(&v1alpha1.Darkroom{}, name, extract) })))
	elsewhere := twoSources()
	elsewhere.Namespace = "team-b"
	versions := &Versions{Cached: builder.WithObjects(twoSources(), elsewhere,
		darkrooms.New("cats", "team-a").Obj()).Build()}
	for name, want := range map[string]int{"one": 1, "two": 1, "three": 0} {
		found, err := versions.Referrers(t.Context(), types.NamespacedName{Namespace: "team-a", Name: name})
		expect.NoError(t, err)
		if len(found) != want || want > 0 && found[0] != (types.NamespacedName{Namespace: "team-a", Name: "photos"}) {
			t.Errorf("Secret %s: got referrers %v", name, found)
		}
	}
}

// indexer passes the registered index function to a callback.
type indexer func(name string, extract client.IndexerFunc)

// IndexField implements client.FieldIndexer.
func (i indexer) IndexField(_ context.Context, _ client.Object, name string, extract client.IndexerFunc) error {
	i(name, extract)
	return nil
}

func TestADarkroomWithoutSecretsHasNoVersionAndNoMemory(t *testing.T) {
	w := &town{live: map[string]*corev1.Secret{}}
	w.write("one", "u", map[string]string{"accessKey": "a"})
	versions := &Versions{Find: w.find, Cached: w, Uncached: w}
	_, err := versions.Version(t.Context(), twoSources())
	expect.NoError(t, err)
	if _, remembered := versions.memory.Load(types.NamespacedName{Namespace: "team-a", Name: "photos"}); !remembered {
		t.Error("a Darkroom with Secrets is not remembered")
	}
	version, err := versions.Version(t.Context(), darkrooms.New("photos", "team-a").Obj())
	expect.NoError(t, err)
	_, remembered := versions.memory.Load(types.NamespacedName{Namespace: "team-a", Name: "photos"})
	if remembered || version != "" {
		t.Errorf("got the version %q, remembered: %t; want neither", version, remembered)
	}
}

// Errors other than NotFound must be returned.
func TestAnErrorIsNoMissingSecret(t *testing.T) {
	w := &town{live: map[string]*corev1.Secret{}, failure: errGone}
	versions := &Versions{Find: w.find, Cached: w, Uncached: w}
	_, err := versions.Version(t.Context(), twoSources())
	if !errors.Is(err, errGone) || !strings.Contains(err.Error(), "team-a/one") {
		t.Errorf("the API server fails: got error %v", err)
	}
	versions.Find = func(context.Context, types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
		return nil, errGone
	}
	if _, err := versions.Version(t.Context(), twoSources()); !errors.Is(err, errGone) {
		t.Errorf("the cache fails: got error %v", err)
	}
	_, err = versions.Referrers(t.Context(), types.NamespacedName{Namespace: "team-a", Name: "one"})
	if !errors.Is(err, errGone) {
		t.Errorf("the list fails: got error %v", err)
	}
}
