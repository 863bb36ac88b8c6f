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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// user performs random operations in the namespaces of the crowd. The operations, their objects and their order depend
// only on the seed.
type user struct {
	*ledger
	random *rand.Rand
	log    *log.Logger
}

// operations lists the actions of users; more likely ones are listed several times.
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
	{"helm upgrade", (*user).helmUpgrade},
	{"helm uninstall", (*user).helmUninstall},
	{"apply", (*user).apply},
	{"unapply", (*user).unapply},
}

// startUsers lets users perform random operations for a time. The returned function waits for their end, and returns
// the number of operations by name.
func startUsers(t *testing.T, l *ledger, seed uint64, until time.Time) (wait func() map[string]int) {
	t.Helper()
	file, err := os.Create(filepath.Join(scratch, "users.log"))
	must(t, err)
	t.Cleanup(func() { _ = file.Close() })
	done := map[string]int{}
	var mu sync.Mutex
	var running sync.WaitGroup
	for i := range crowdUsers {
		u := &user{
			l, rand.New(rand.NewPCG(seed, uint64(i))),
			log.New(file, fmt.Sprintf("user %d ", i), log.Ltime|log.Lmicroseconds),
		}
		running.Go(func() {
			for time.Now().Before(until) && t.Context().Err() == nil {
				operation := operations[u.random.IntN(len(operations))]
				key := client.ObjectKey{
					Namespace: crowdNamespaces[u.random.IntN(len(crowdNamespaces))],
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
				time.Sleep(time.Duration(u.random.Int64N(int64(400 * time.Millisecond)))) // users act at random intervals
			}
		})
	}
	t.Cleanup(running.Wait)
	return func() map[string]int {
		running.Wait()
		return done
	}
}

// crowdDarkroom returns a valid Darkroom of the crowd with its own host.
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

// restart performs `kubectl rollout restart` on the Deployment of a Darkroom.
func (u *user) restart(ctx context.Context, key client.ObjectKey) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	deployment := &appsv1.Deployment{}
	if err := kube.Get(ctx, key, deployment); err != nil || !isOwned(deployment) {
		return err
	}
	at := time.Now().Format(time.RFC3339Nano)
	patch := mergePatch(`{"metadata":{"uid":%q},"spec":{"template":{"metadata":{"annotations":{%q:%q}}}}}`,
		deployment.UID, annotationRestart, at)
	if err := kube.Patch(ctx, deployment, patch); err != nil {
		return err
	}
	u.restarts[deployment.UID] = at
	return nil
}

func (u *user) helmInstall(ctx context.Context, key client.ObjectKey) error {
	statuses := []release.Status{
		release.StatusDeployed, release.StatusDeployed, release.StatusFailed,
		release.StatusPendingInstall,
	}
	return u.ledger.helmInstall(ctx, key, statuses[u.random.IntN(len(statuses))])
}

// apply creates an object without Helm.
func (u *user) apply(ctx context.Context, key client.ObjectKey) error {
	return u.ledger.applyOne(ctx, key, u.random)
}

// unapply deletes the objects created without Helm.
func (u *user) unapply(ctx context.Context, key client.ObjectKey) error {
	return u.ledger.delete(ctx, key.Namespace, annotated(annotationApplied, key.Name))
}

const annotationApplied = "crowd.example.com/applied"

// applyOne creates an object with the name of a Darkroom's object.
func (l *ledger) applyOne(ctx context.Context, key client.ObjectKey, random *rand.Rand) error {
	all := foreignObjects(key)
	object := all[random.IntN(len(all))]
	object.SetAnnotations(map[string]string{annotationApplied: key.Name})
	return l.create(ctx, object)
}
