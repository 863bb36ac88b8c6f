package histories

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/faults"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

const (
	// canary is a credential that must not appear outside of Secrets and resources.
	canary = "canary-4f1c-not-a-real-key"
	// restPeriod is the time without requests after which operators count as idle.
	restPeriod = 250 * time.Millisecond
	// patience limits the time until the cluster is at rest. It is long because machines that run tests are shared.
	patience = wait.Patience
)

// tenants are the namespaces of a history, without their suffix, in alphabetical order.
var tenants = []string{"alice", "bob"}

// releaseKinds are the kinds of a Darkroom's objects, including Helm's Secrets.
var releaseKinds = append(darkrooms.Belongings(),
	schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"})

// world is the environment of a history: its own namespaces on the shared API server, and the operators that handle
// them. It acts as the controllers of Kubernetes.
type world struct {
	*cluster

	ctx context.Context
	// suffix distinguishes the namespaces and hosts of histories that run at the same time.
	suffix string
	// operators are the running operators.
	operators map[process]*operator
	// started is the number of processes so far.
	started int
	// elects is set if two processes of the main installation elect a leader, sharded if two processes divide the
	// Darkrooms by label, and divided if they divide them by namespace.
	elects, sharded, divided bool
	// balances is set while a load balancer has a finalizer on routes.
	balances bool
	// gone are the processes that will not be restarted.
	gone map[process]bool
	// settings are the settings with which the main installation was started.
	settings []settings
	faults   *faults.Faults
	timeline *timeline
	// foreign are the versions of foreign objects in the state in which their owners left them.
	foreign map[reference]string
	// ended are the releases that a user ended, by namespace and name. A user who deletes the last revision, or takes
	// the Deployment by removing its owner reference, keeps a Deployment without a release, as the event explains.
	ended map[string]bool
	// unserved is set while the sources of images fail.
	unserved atomic.Bool
	// backups are saved Darkrooms.
	backups map[types.NamespacedName]*v1alpha1.Darkroom
	// saves are saved objects of namespaces.
	saves map[string][]unstructured.Unstructured
	// scaled are the numbers of pods that autoscalers set, by the UID of the Deployment.
	scaled map[types.UID]int32
	// faulty is set if faults were injected into the API server.
	faulty bool
	// mirrored is set if a webhook rewrote Deployments.
	mirrored bool
	// policies end the policies and quotas that are in force.
	policies []func() error
	// limited are the namespaces that had a quota.
	limited map[string]bool
	// revisions is the number of revisions of each Darkroom.
	revisions map[types.UID]int
	// judged is the number of requests when the invariants were last checked, at the time judgedAt, and judging the
	// objects against which they are checked.
	judged   int
	judgedAt time.Time
	judging  []unstructured.Unstructured
}

// reference names an object.
type reference struct {
	schema.GroupVersionKind
	types.NamespacedName
}

func (r reference) String() string { return r.Kind + " " + r.Namespace + "/" + r.Name }

func referTo(object client.Object) reference {
	kind := object.GetObjectKind().GroupVersionKind()
	if kind.Empty() {
		kind, _ = apiutil.GVKForObject(object, scheme)
	}
	return reference{kind, client.ObjectKeyFromObject(object)}
}

var worlds atomic.Int64

// newWorld creates the namespaces of a history and starts an operator. end removes both.
func newWorld(ctx context.Context, c *cluster) (w *world, end func(), err error) {
	w = &world{
		cluster: c, ctx: ctx, suffix: fmt.Sprintf("-%d-%d", os.Getpid(), worlds.Add(1)),
		operators: map[process]*operator{}, gone: map[process]bool{}, faults: &faults.Faults{},
		timeline: &timeline{byOperators: map[string]bool{}}, judgedAt: time.Now(),
		foreign: map[reference]string{}, ended: map[string]bool{},
		saves: map[string][]unstructured.Unstructured{}, scaled: map[types.UID]int32{},
		backups: map[types.NamespacedName]*v1alpha1.Darkroom{}, limited: map[string]bool{}, revisions: map[types.UID]int{},
		settings: []settings{settingsOf(baseDomains[0])},
	}
	for _, tenant := range tenants {
		if err := w.kube.Create(ctx, w.namespace(tenant)); err != nil {
			return nil, nil, err
		}
	}
	if err := w.follow(); err != nil {
		return nil, nil, err
	}
	end = func() {
		w.stop(mainInstallation)
		w.stop(otherInstallation)
		_ = w.endPolicies()
		w.timeline.end()
	}
	if err := w.start(mainInstallation); err != nil {
		end()
		return nil, nil, err
	}
	return w, end, nil
}

func (w *world) namespaces() []string {
	var names []string
	for _, tenant := range tenants {
		names = append(names, tenant+w.suffix)
	}
	return names
}

// namespace is the namespace of a tenant.
func (w *world) namespace(tenant string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   tenant + w.suffix,
		Labels: map[string]string{"history": w.suffix[1:]},
	}}
}

// living returns the namespaces that are not being deleted.
func (w *world) living() (names []string, err error) {
	list := &corev1.NamespaceList{}
	if err := w.kube.List(w.ctx, list, client.MatchingLabels{"history": w.suffix[1:]}); err != nil {
		return nil, err
	}
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			names = append(names, list.Items[i].Name)
		}
	}
	return names, nil
}

// plain removes the suffix of a history from a text.
func (w *world) plain(text string) string { return strings.ReplaceAll(text, w.suffix, "") }

func (w *world) key(tenant, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: tenant + w.suffix, Name: name}
}

// subDomain returns the sub-domain of a name in this history.
func (w *world) subDomain(name string) string { return name + w.suffix }

// hosts returns the hosts for which tenants compete.
func (w *world) hosts() (hosts []string) {
	for _, name := range hostNames {
		for _, domain := range baseDomains {
			hosts = append(hosts, w.subDomain(name)+"."+domain)
		}
	}
	return hosts
}

// hostOf returns the host of a sub-domain below the first base domain.
func (w *world) hostOf(subDomain string) string { return subDomain + "." + baseDomains[0] }

// errNothingToDo is returned by a step that does not apply to the current state of the cluster.
var errNothingToDo = errors.New("nothing to do")

// benign drops errors of a step that are caused by concurrent actions of others.
func benign(err error) error {
	if errors.Is(err, errNothingToDo) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) ||
		apierrors.IsConflict(err) ||
		apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) {
		return nil
	}
	return err
}

// darkroom reads a Darkroom.
func (w *world) darkroom(key types.NamespacedName) (*v1alpha1.Darkroom, error) {
	darkroom := &v1alpha1.Darkroom{}
	return darkroom, w.kube.Get(w.ctx, key, darkroom)
}

// allDarkrooms lists the Darkrooms of the history.
func (w *world) allDarkrooms() ([]v1alpha1.Darkroom, error) {
	var all []v1alpha1.Darkroom
	for _, namespace := range w.namespaces() {
		list := &v1alpha1.DarkroomList{}
		if err := w.kube.List(w.ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
	}
	return all, nil
}

// objects lists the objects of the history that may belong to a release.
func (w *world) objects() ([]unstructured.Unstructured, error) {
	var all []unstructured.Unstructured
	for _, namespace := range w.namespaces() {
		for _, kind := range releaseKinds {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
			if err := w.kube.List(w.ctx, list, client.InNamespace(namespace)); err != nil {
				return nil, err
			}
			all = append(all, list.Items...)
		}
	}
	return all, nil
}

// create creates an object of a tenant.
func (w *world) create(object client.Object) error {
	if err := w.kube.Create(w.ctx, object, client.FieldOwner("tenant")); err != nil {
		return err
	}
	return w.wrote(object)
}

// edit changes an object as a tenant.
func edit[T client.Object](w *world, key types.NamespacedName, object T, mutate func(T) error) error {
	if err := w.kube.Get(w.ctx, key, object); err != nil {
		return err
	}
	before := object.DeepCopyObject().(client.Object)
	if err := mutate(object); err != nil {
		return err
	}
	if err := w.kube.Patch(w.ctx, object, client.MergeFrom(before), client.FieldOwner("tenant")); err != nil {
		return err
	}
	return w.wrote(object)
}

// wrote records an object written by a tenant or a controller of Kubernetes.
func (w *world) wrote(object client.Object) error {
	if _, isDarkroom := object.(*v1alpha1.Darkroom); isDarkroom {
		return nil
	}
	belongs, err := w.belongs(object)
	if err != nil {
		return err
	}
	isGone := object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0 // it lost its last finalizer
	if belongs || isGone {
		delete(w.foreign, referTo(object))
	} else {
		w.foreign[referTo(object)] = object.GetResourceVersion()
	}
	return nil
}

// belongs reports whether an object belongs to a Darkroom: it has the label, with any value, and its controller is an
// existing Darkroom. A Secret of Helm that lost its controller belongs by its label, and an object with the Darkroom's
// name that lost its label belongs by its controller.
func (w *world) belongs(object client.Object) (bool, error) {
	labels := object.GetLabels()
	name := cmp.Or(labels[v1alpha1.LabelDarkroom], object.GetName())
	owner := metav1.GetControllerOfNoCopy(object)
	if owner != nil && owner.Kind == v1alpha1.Kind && labels[v1alpha1.LabelDarkroom] != "" {
		name = owner.Name
	}
	darkroom, err := w.darkroom(types.NamespacedName{Namespace: object.GetNamespace(), Name: name})
	if err != nil {
		return false, client.IgnoreNotFound(err)
	}
	byLabel := labels["owner"] == "helm" && metav1.GetControllerOfNoCopy(object) == nil &&
		labels[v1alpha1.LabelDarkroomUID] == string(darkroom.UID)
	return byLabel || metav1.IsControlledBy(object, darkroom), nil
}

// remove deletes an object as a tenant.
func (w *world) remove(object client.Object, options ...client.DeleteOption) error {
	delete(w.foreign, referTo(object))
	return w.kube.Delete(w.ctx, object, options...)
}

// removeByUser deletes an object that may be a revision, which the operator then does not keep.
func (w *world) removeByUser(object client.Object) error {
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil && storage.IsRevision(object) {
		w.revisions[controller.UID]--
	}
	return w.remove(object)
}

// settle acts as the controllers of Kubernetes until the cluster is at rest or a time has passed.
func (w *world) settle(most time.Duration) error {
	_, err := w.rests(most, restPeriod, func() bool { return true })
	return err
}

// rests acts as the controllers of Kubernetes, which have nothing to do unless an operator wrote. It reports whether,
// within a time limit, no operator sent a request for a period while a condition held.
func (w *world) rests(most, period time.Duration, holds func() bool) (bool, error) {
	deadline := time.Now().Add(most)
	sent, since, changed := count{-1, -1}, time.Now(), false
	for time.Now().Before(deadline) {
		err := w.revive()
		if err != nil {
			return false, err
		}
		now := w.sent()
		if changed || now != sent || !holds() {
			since = time.Now()
		}
		if changed || now.writes != sent.writes {
			if changed, err = w.control(); err != nil {
				return false, err
			}
		}
		if sent = now; time.Since(since) > period {
			return true, nil
		}
		time.Sleep(restPeriod / 5)
	}
	return false, nil
}

// sent is the number of requests of all operators so far.
func (w *world) sent() count {
	total := w.timeline.stopped()
	for _, operator := range w.operators {
		total = total.plus(operator.traffic.count())
	}
	return total
}

func (w *world) endPolicies() error {
	var errs []error
	for _, end := range slices.Backward(w.policies) {
		errs = append(errs, end())
	}
	w.policies = nil
	return errors.Join(errs...)
}
