//go:build chaos

package chaos

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// user does random operations in one of the namespaces of the crowd at a time. Operations,
// their objects and their order follow from the seed alone.
type user struct {
	helmUser
	random     *rand.Rand
	namespaces []string
	restarts   *restarts
	log        *log.Logger
}

// operations lists the actions of users, the likely ones several times.
var operations = []struct {
	name string
	do   func(*user, context.Context, client.ObjectKey) error
}{
	{"create", (*user).create},
	{"create", (*user).create},
	{"create", (*user).create},
	{"edit", (*user).edit},
	{"edit", (*user).edit},
	{"scale", (*user).scale},
	{"autoscale", (*user).autoscale},
	{"pause", (*user).pause},
	{"unpause", (*user).unpause},
	{"delete", (*user).delete},
	{"rollout restart", (*user).restart},
	{"helm install", (*user).helmInstall},
	{"helm install", (*user).helmInstall},
	{"helm upgrade", (*user).upgrade},
	{"helm uninstall", (*user).uninstall},
	{"apply", (*user).apply},
	{"unapply", (*user).unapply},
}

// startUsers has users do random operations until the time is over, and returns the
// number of operations of each name once they have ended.
func startUsers(t *testing.T, l *ledger, seed uint64, count int, namespaces []string, until time.Time) (wait func() (map[string]int, *restarts)) {
	t.Helper()
	file, err := os.Create(filepath.Join(scratch, "users.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	done, all := map[string]int{}, &restarts{last: map[types.UID]string{}}
	var mu sync.Mutex
	var running sync.WaitGroup
	for i := range count {
		u := &user{
			helmUser: helmUser{l}, random: rand.New(rand.NewPCG(seed, uint64(i))), namespaces: namespaces, restarts: all,
			log: log.New(file, fmt.Sprintf("user %d ", i), log.Ltime|log.Lmicroseconds),
		}
		running.Go(func() {
			for time.Now().Before(until) && t.Context().Err() == nil {
				operation := operations[u.random.IntN(len(operations))]
				key := client.ObjectKey{
					Namespace: namespaces[u.random.IntN(len(namespaces))],
					Name:      fmt.Sprintf("photos-%d", u.random.IntN(crowdNames)),
				}
				err := operation.do(u, t.Context(), key)
				u.log.Printf("%s %s: %v", operation.name, key, err)
				switch {
				case err == nil:
					mu.Lock()
					done[operation.name]++
					mu.Unlock()
				case t.Context().Err() == nil && tolerate(err) != nil && !errors.Is(err, errReleaseInUse):
					t.Errorf("%s %s: %v", operation.name, key, err)
				}
				time.Sleep(time.Duration(u.random.Int64N(int64(400 * time.Millisecond)))) // users take their time
			}
		})
	}
	t.Cleanup(running.Wait)
	return func() (map[string]int, *restarts) {
		running.Wait()
		return done, all
	}
}

// crowdDarkroom is a valid Darkroom of the crowd. Its host is its own.
func crowdDarkroom(key client.ObjectKey) *v1alpha1.Darkroom {
	return darkrooms.New(key.Name, key.Namespace).SubDomains(key.Name + "." + key.Namespace).Obj()
}

func (u *user) create(ctx context.Context, key client.ObjectKey) error {
	return kube.Create(ctx, crowdDarkroom(key))
}

func (u *user) change(ctx context.Context, key client.ObjectKey, format string, args ...any) error {
	return kube.Patch(ctx, crowdDarkroom(key), mergePatch(format, args...))
}

func (u *user) edit(ctx context.Context, key client.ObjectKey) error {
	account := "null"
	if u.random.IntN(4) == 0 {
		account = `{"serviceAccountName":"default"}`
	}
	return u.change(ctx, key, `{"spec":{"cacheTTLSeconds":%d,"podTemplate":%s}}`, 1+u.random.IntN(1000), account)
}

func (u *user) scale(ctx context.Context, key client.ObjectKey) error {
	return u.change(ctx, key, `{"spec":{"replicas":%d}}`, 1+u.random.IntN(3))
}

func (u *user) autoscale(ctx context.Context, key client.ObjectKey) error {
	autoscaling := "null"
	if u.random.IntN(2) == 0 {
		autoscaling = `{"minReplicas":1,"maxReplicas":3}`
	}
	return u.change(ctx, key, `{"spec":{"autoscaling":%s}}`, autoscaling)
}

func (u *user) pause(ctx context.Context, key client.ObjectKey) error {
	return u.change(ctx, key, `{"metadata":{"annotations":{%q:"true"}}}`, v1alpha1.AnnotationPaused)
}

func (u *user) unpause(ctx context.Context, key client.ObjectKey) error {
	return u.change(ctx, key, `{"metadata":{"annotations":{%q:null}}}`, v1alpha1.AnnotationPaused)
}

func (u *user) delete(ctx context.Context, key client.ObjectKey) error {
	return kube.Delete(ctx, crowdDarkroom(key))
}

// restart is `kubectl rollout restart` of the Deployment of a Darkroom.
func (u *user) restart(ctx context.Context, key client.ObjectKey) error {
	u.restarts.mu.Lock()
	defer u.restarts.mu.Unlock()
	deployment := &appsv1.Deployment{}
	if err := kube.Get(ctx, key, deployment); err != nil || !isOwned(deployment) {
		return err
	}
	at := time.Now().Format(time.RFC3339Nano)
	patch := mergePatch(`{"metadata":{"uid":%q},"spec":{"template":{"metadata":{"annotations":{%q:%q}}}}}`, deployment.UID, annotationRestart, at)
	if err := kube.Patch(ctx, deployment, patch); err != nil {
		return err
	}
	u.restarts.last[deployment.UID] = at
	return nil
}

// restarts are the last restarts of Deployments.
type restarts struct {
	mu   sync.Mutex
	last map[types.UID]string
}

func (u *user) helmInstall(ctx context.Context, key client.ObjectKey) error {
	statuses := []release.Status{release.StatusDeployed, release.StatusDeployed, release.StatusFailed, release.StatusPendingInstall}
	return u.install(ctx, key, statuses[u.random.IntN(len(statuses))])
}

// apply creates one object without Helm.
func (u *user) apply(ctx context.Context, key client.ObjectKey) error {
	all := foreignObjects(key)
	object := all[u.random.IntN(len(all))]
	object.SetAnnotations(map[string]string{annotationApplied: key.Name})
	return u.ledger.create(ctx, object)
}

const annotationApplied = "crowd.example.com/applied"

// unapply deletes the objects that were created without Helm.
func (u *user) unapply(ctx context.Context, key client.ObjectKey) error {
	for _, t := range u.things(key.Namespace, func(object *unstructured.Unstructured) bool {
		return object.GetAnnotations()[annotationApplied] == key.Name
	}) {
		if err := u.ledger.delete(ctx, t); err != nil {
			return err
		}
	}
	return nil
}
