//go:build chaos

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

const (
	// crowdNames is the number of names per namespace for which Darkrooms, releases and foreign objects compete.
	crowdNames = 10
	// crowdUsers is the number of users who act at the same time.
	crowdUsers = 3
	// restPeriod is the time without writes after which the cluster counts as converged. It is longer than a release's
	// verify period of 20 seconds plus the resync period.
	restPeriod = 40 * time.Second
)

var crowdNamespaces = []string{"crowd-a", "crowd-b"}

// TestACrowdedClusterIsSharedSafely lets users, other controllers and other Helm releases act on the names of twenty
// Darkrooms, and kills the operator several times. Afterwards every foreign object must be as its owners left it, every
// Darkroom must be ready, or refused if its name is taken, and writes must have stopped.
func TestACrowdedClusterIsSharedSafely(t *testing.T) {
	duration := 90 * time.Second
	if text := os.Getenv("CHAOS_CROWD"); text != "" {
		var err error
		if duration, err = time.ParseDuration(text); err != nil {
			t.Fatalf("CHAOS_CROWD: %v", err)
		}
	}
	seed := random.Uint64()
	t.Logf("seed %d, users act for %s", seed, duration)
	ledger := newLedger()
	populate(t, ledger, rand.New(rand.NewPCG(seed, 500)))

	o := start(t, "crowd")
	defer func() { end(t, o, syscall.SIGKILL) }()
	stopNeighbors := startNeighbors(t, ledger, seed)
	defer stopNeighbors()
	until := time.Now().Add(duration)
	waitUsers := startUsers(t, ledger, seed, until)
	kills := 0
	for ; time.Now().Before(until); kills++ {
		moment(10 * time.Second)
		end(t, o, syscall.SIGKILL)
		if kills%4 == 0 {
			// The operator may also be killed while it starts, with empty caches.
			starting := launch(t, "crowd")
			moment(time.Second)
			end(t, starting, syscall.SIGKILL)
		}
		o = start(t, "crowd")
	}
	operations := waitUsers()
	for _, namespace := range crowdNamespaces {
		eventually(t, "no Darkroom is paused", func(ctx context.Context) error {
			_, err := program.Output(ctx, "kubectl", "annotate", "darkrooms", "--all", "--namespace", namespace,
				v1alpha1.AnnotationPaused+"-")
			return err
		})
	}
	var took time.Duration
	t.Run("every Darkroom converges, and nothing is left of those that were deleted", func(t *testing.T) {
		took = eventually(t, "all have converged", func(ctx context.Context) error { return converged(ctx, ledger) })
		must(t, o.Ended())
	})
	t.Run("every foreign object is as its owners left it", func(t *testing.T) {
		if err := ledger.differences(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("additions to objects of Darkrooms are still there", func(t *testing.T) {
		eventually(t, "the neighbors have seen all objects", additionsStay)
		if err := ledger.undoneRestarts(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("writes have come to rest", func(t *testing.T) { atRest(t) })
	printTable(
		[]string{
			fmt.Sprintf(
				"| %d users act on the names of %d Darkrooms and as many releases of others for %s; operator killed %d "+
					"times | %v | %.1f s | 0 |",
				crowdUsers, len(crowdNamespaces)*crowdNames, duration, kills, operations, took.Seconds()),
		})
	ledger.close()
	for _, namespace := range crowdNamespaces {
		vacate(t, namespace)
	}
}

// populate fills the namespaces. A third of the names get a foreign release, some of the others an object without Helm,
// and each of them a Darkroom.
func populate(t *testing.T, l *ledger, random *rand.Rand) {
	t.Helper()
	statuses := []release.Status{
		release.StatusDeployed, release.StatusFailed,
		release.StatusPendingInstall, release.StatusSuperseded,
	}
	for _, name := range crowdNamespaces {
		create(t, namespace(name))
		for i := range crowdNames {
			key := client.ObjectKey{Namespace: name, Name: fmt.Sprintf("photos-%d", i)}
			var err error
			switch i % 3 {
			case 0:
				err = l.helmInstall(t.Context(), key, statuses[i/3%len(statuses)])
			case 1:
				err = l.applyOne(t.Context(), key, random)
			}
			if err == nil {
				// These releases are unrelated to any Darkroom.
				err = l.helmInstall(t.Context(), client.ObjectKey{Namespace: name, Name: fmt.Sprintf("gallery-%d", i)},
					release.StatusDeployed)
			}
			must(t, err)
			create(t, crowdDarkroom(key))
		}
	}
}

// converged returns an error unless all Darkrooms of the crowd are ready, or refused if their names are taken, and
// nothing is left of deleted ones.
func converged(ctx context.Context, l *ledger) error {
	var errs []error
	for _, namespace := range crowdNamespaces {
		errs = append(errs, census(ctx, namespace, l.verdict, l.has))
	}
	return errors.Join(errs...)
}

// verdict returns an error if the state of a Darkroom is wrong, given the foreign objects.
func (l *ledger) verdict(darkroom *v1alpha1.Darkroom) error {
	deployed := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionDeployed)
	ready := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionReady)
	isFalse := func(condition *v1alpha1.Condition) bool {
		return condition != nil && condition.Status == metav1.ConditionFalse &&
			condition.ObservedGeneration == darkroom.Generation
	}
	if len(l.things(darkroom.Namespace, isRevisionOf(darkroom.Name))) > 0 {
		if !isFalse(deployed) || deployed.Reason != v1alpha1.ReasonForeignRelease {
			return fmt.Errorf("the condition Deployed is %+v, although the Helm release of that name is foreign", deployed)
		}
		return nil
	}
	if taken := l.taken(darkroom); taken != "" {
		if !isFalse(ready) {
			return fmt.Errorf("the condition Ready is %+v, although the %s of that name is foreign", ready, taken)
		}
		return nil
	}
	return notReady(darkroom)
}

// taken returns the kind of a foreign object whose name a Darkroom needs.
func (l *ledger) taken(darkroom *v1alpha1.Darkroom) string {
	needs := []string{"Deployment", "Service", "Ingress"}
	if darkroom.Spec.PodTemplate == nil || darkroom.Spec.PodTemplate.ServiceAccountName == "" {
		needs = append(needs, "ServiceAccount")
	}
	if darkroom.Spec.Autoscaling != nil {
		needs = append(needs, "HorizontalPodAutoscaler")
	}
	for _, kind := range needs {
		if l.has(kind, client.ObjectKeyFromObject(darkroom)) {
			return kind
		}
	}
	return ""
}

// additionsStay returns an error unless all objects of Darkrooms still have the neighbors' additions.
func additionsStay(ctx context.Context) error {
	var errs []error
	for _, namespace := range crowdNamespaces {
		accounts := &corev1.ServiceAccountList{}
		if err := kube.List(ctx, accounts, client.InNamespace(namespace)); err != nil {
			return err
		}
		for i := range accounts.Items {
			if account := &accounts.Items[i]; !hasPullSecret(account) {
				errs = append(errs, fmt.Errorf("ServiceAccount %s/%s has lost its pull secret or token", namespace, account.Name))
			}
		}
		objects, err := metadataOf(ctx, namespace, marked)
		if err != nil {
			return err
		}
		for i := range objects {
			if object := &objects[i]; isOwned(object) && !isMarked(object) {
				errs = append(errs, fmt.Errorf("%s has lost its annotation or label", thingOf(object)))
			}
		}
	}
	return shorten(errs)
}

// undoneRestarts returns the restarts of Deployments that were reverted.
func (l *ledger) undoneRestarts(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, namespace := range crowdNamespaces {
		list := &appsv1.DeploymentList{}
		if err := kube.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return err
		}
		for i := range list.Items {
			deployment := &list.Items[i]
			want, restarted := l.restarts[deployment.UID]
			if got := deployment.Spec.Template.Annotations[annotationRestart]; restarted && got != want {
				errs = append(errs, fmt.Errorf("Deployment %s/%s was restarted at %s, but its annotation is %q", namespace,
					deployment.Name, want, got))
			}
		}
	}
	return shorten(errs)
}

// atRest fails the test unless no Darkroom and no object that may belong to one is written for a whole restPeriod.
// Pending records of additions by others may come first.
func atRest(t *testing.T) {
	t.Helper()
	written := ""
	for range 3 {
		before := versions(t)
		time.Sleep(restPeriod) // the length of the measurement
		if written = cmp.Diff(before, versions(t)); written == "" {
			return
		}
		t.Log(written)
	}
	t.Errorf("objects are still being written: %s", written)
}

// versions returns the resource versions of all objects of the relevant kinds.
func versions(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, namespace := range crowdNamespaces {
		objects, err := metadataOf(t.Context(), namespace, append(darkrooms.Belongings(), v1alpha1.GroupVersionKind))
		must(t, err)
		scaledByOthers := map[string]bool{}
		for i := range objects {
			if object := &objects[i]; object.Kind == "Deployment" && !isOwned(object) {
				scaledByOthers[object.Name] = true
			}
		}
		for i := range objects {
			object := &objects[i]
			// The owner of a foreign Deployment scales it. The number is then written into the status of an autoscaler,
			// even if the autoscaler belongs to a Darkroom that could not create its Deployment.
			isScaled := slices.Contains(clusterWritten, object.Kind) && (!isOwned(object) || scaledByOthers[object.Name])
			if !isScaled {
				out[thingOf(object).String()] = object.ResourceVersion
			}
		}
	}
	return out
}

// vacate deletes a namespace and waits until it is gone. The operator must be running to finalize the Darkrooms.
func vacate(t *testing.T, name string) (took time.Duration) {
	t.Helper()
	must(t, client.IgnoreNotFound(kube.Delete(t.Context(), namespace(name))))
	return waitGone(t, namespace(name))
}

func waitGone(t *testing.T, object client.Object) (took time.Duration) {
	t.Helper()
	return eventually(t, object.GetName()+" is gone", func(ctx context.Context) error {
		err := kube.Get(ctx, client.ObjectKeyFromObject(object), object)
		if err == nil {
			return fmt.Errorf("the namespace still exists, with the finalizers %q", object.GetFinalizers())
		}
		return client.IgnoreNotFound(err)
	})
}
