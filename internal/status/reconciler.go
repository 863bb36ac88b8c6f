package status

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/hosts"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
	"github.com/darkroom-operator/darkroom-operator/internal/redact"
	"github.com/darkroom-operator/darkroom-operator/internal/rollout"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// If a Darkroom is not ready, its pods are listed after podPatience, because most become ready sooner. While nothing
// changes, they are listed again with exponential back-off.
const (
	podPatience    = 3 * time.Second
	podPeriodLeast = 5 * time.Second
	podPeriodMost  = time.Minute
)

// Reconciler writes the status of Darkrooms. Its fields must be set before first use.
type Reconciler struct {
	// Client reads Darkrooms, Deployments, Ingresses and HTTPRoutes from the caches, and writes the status.
	Client client.Client
	// Handles reports whether this installation of the operator handles a Darkroom. Other Darkrooms are ignored.
	Handles func(*v1alpha1.Darkroom) bool
	// Uncached reads from the API server: the Services of probed Darkrooms, and the pods of Darkrooms that are not
	// ready. Cached Services would take 20 MiB for 10,000 Darkrooms.
	Uncached client.Reader
	// Refusals returns the hosts in a Darkroom's spec that other Darkrooms hold.
	Refusals func(context.Context, *v1alpha1.Darkroom) ([]hosts.Refusal, error)
	// FindSecret returns the metadata of a Secret; nil if it is missing.
	FindSecret func(context.Context, types.NamespacedName) (*metav1.PartialObjectMetadata, error)
	// HasClass reports whether an IngressClass exists; it is nil if the operator may not read IngressClasses.
	HasClass func(context.Context, string) (bool, error)
	// Event records an event on a Darkroom; warning is set for failures.
	Event func(darkroom *v1alpha1.Darkroom, warning bool, reason, message string)
	// Prober probes Darkrooms; nil if probes are disabled.
	Prober interface {
		Set(types.NamespacedName, probe.Target)
		Remove(types.NamespacedName)
		Result(types.NamespacedName) probe.Result
	}
	// BaseDomain returns the base domain of a Darkroom, and Hosts the hosts in its spec.
	BaseDomain func(*v1alpha1.Darkroom) string
	Hosts      func(*v1alpha1.Darkroom) []string
	// Published describes the URLs of hosts.
	Published Published
	// Routes reports whether HTTPRoutes are cached.
	Routes func() bool
	// Clock provides the transition times.
	Clock clock.PassiveClock

	// diagnoses maps Darkrooms to the last diagnosis of their pods.
	diagnoses sync.Map // types.NamespacedName → diagnosis
}

// diagnosis is the result of listing the pods of a Darkroom, with the time of the list and the time of the next one.
type diagnosis struct {
	at, due  time.Time
	problem  *Problem
	starting probe.Pod
}

// holds reports whether it is too early to list the pods again. It limits the requests that users can cause with events
// and large numbers of pods.
func (d diagnosis) holds(now time.Time) bool {
	return !now.Before(d.at) && now.Before(d.due) && now.Sub(d.at) < podPeriodLeast
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (_ reconcile.Result, err error) {
	darkroom := &v1alpha1.Darkroom{}
	defer func() { err = redact.Error(darkroom, err) }() // errors are logged and may quote secrets
	if err := r.Client.Get(ctx, request.NamespacedName, darkroom); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(request.NamespacedName)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !r.Handles(darkroom) {
		r.forget(request.NamespacedName)
		return reconcile.Result{}, nil
	}
	if early, again := isEarly(darkroom, r.Clock.Now()); early {
		return reconcile.Result{RequeueAfter: again}, nil
	}
	observation, err := r.observe(ctx, darkroom)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observe Darkroom %s: %w", request, err)
	}
	again, err := r.diagnose(ctx, &observation)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observe pods of Darkroom %s: %w", request, err)
	}
	observation.Probe = r.probe(observation)

	again = Sooner(again, retriedFor(observation))

	report := Determine(observation)
	WithTransitionTimes(report.Conditions, darkroom.Status.Conditions, r.Clock.Now())
	if !changed(report, darkroom.Status) {
		return reconcile.Result{RequeueAfter: again}, nil
	}
	stored, err := apply(ctx, r.Client, darkroom, FieldManager, &report)
	if err == nil {
		err = r.awaitCache(ctx, request.NamespacedName, darkroom.ResourceVersion, stored)
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("report on Darkroom %s: %w", request, err)
	}
	if conflict := conflictOf(report); conflict != "" && conflict != conflictOf(darkroom.Status) {
		r.Event(darkroom, true, EventDomainConflict, conflict)
	}
	if before := darkroom.Status.Phase; before != report.Phase {
		ctrl.LoggerFrom(ctx).Info("Phase changed", "from", before, "to", report.Phase, "message", report.Message)
	}
	return reconcile.Result{RequeueAfter: again}, nil
}

// Sooner returns the earlier of two requeue times; 0 or less means none.
func Sooner(again, after time.Duration) time.Duration {
	if after > 0 && (again <= 0 || after < again) {
		return after
	}
	return again
}

// forget drops the diagnosis of a Darkroom that is gone or not handled by this installation, and stops its probes.
func (r *Reconciler) forget(key types.NamespacedName) {
	r.diagnoses.Delete(key)
	if r.Prober != nil {
		r.Prober.Remove(key)
	}
}

// observe reads the live objects from the caches.
func (r *Reconciler) observe(ctx context.Context, darkroom *v1alpha1.Darkroom) (Observation, error) {
	o := Observation{
		Darkroom: darkroom, Published: r.Published, Now: r.Clock.Now(),
		BaseDomain: r.BaseDomain(darkroom), Hosts: r.Hosts(darkroom),
	}
	var err error
	if o.Refused, err = r.Refusals(ctx, darkroom); err != nil {
		return o, err
	}
	for _, credentials := range values.CredentialsOf(&darkroom.Spec) {
		secret, err := r.FindSecret(ctx, types.NamespacedName{Namespace: darkroom.Namespace, Name: credentials.Name})
		if err != nil {
			return o, err
		}
		if secret == nil {
			o.MissingSecrets = append(o.MissingSecrets, credentials.Name)
		}
	}
	var errs [4]error
	o.Deployment, errs[0] = get(ctx, r.Client, darkroom, &appsv1.Deployment{})
	if r.Prober != nil && canBeProbed(darkroom, o.Deployment) {
		o.Service, errs[1] = get(ctx, r.Uncached, darkroom, &corev1.Service{})
	}
	o.Ingress, errs[2] = get(ctx, r.Client, darkroom, &networkingv1.Ingress{})
	if r.Routes() {
		o.Route, errs[3] = get(ctx, r.Client, darkroom, &gatewayv1.HTTPRoute{})
	}
	return o, errors.Join(append(errs[:], r.observeIngress(ctx, &o))...)
}

// observeIngress checks whether the class and the certificate Secrets that the Ingress names exist.
func (r *Reconciler) observeIngress(ctx context.Context, o *Observation) error {
	if o.Ingress == nil {
		return nil
	}
	if class := o.Ingress.Spec.IngressClassName; class != nil && r.HasClass != nil {
		found, err := r.HasClass(ctx, *class)
		if err != nil {
			return err
		}
		o.MissingClass = !found
	}
	for _, tls := range o.Ingress.Spec.TLS {
		if tls.SecretName == "" || slices.Contains(o.MissingCertificates, tls.SecretName) {
			continue
		}
		secret, err := r.FindSecret(ctx, types.NamespacedName{Namespace: o.Ingress.Namespace, Name: tls.SecretName})
		if err != nil {
			return err
		}
		if secret == nil {
			o.MissingCertificates = append(o.MissingCertificates, tls.SecretName)
		}
	}
	return nil
}

// probe starts or stops the probes of a Darkroom, and returns the last result. With an outdated Deployment, it leaves
// the probes unchanged.
func (r *Reconciler) probe(o Observation) *probe.Result {
	if r.Prober == nil {
		return nil
	}
	key := client.ObjectKeyFromObject(o.Darkroom)
	switch {
	case o.isOutdated():
	case o.Starting != probe.Pod{}, canBeProbed(o.Darkroom, o.Deployment) && addressOf(o) != "":
		target := targetOf(o)
		target.Pod = o.Starting
		r.Prober.Set(key, target)
	default:
		r.Prober.Remove(key)
	}
	result := r.Prober.Result(key)
	return &result
}

// get returns the object that has the Darkroom's name and is controlled by it; nil if there is none.
func get[T client.Object](ctx context.Context, reader client.Reader, darkroom *v1alpha1.Darkroom, object T) (T, error) {
	var none T
	if err := reader.Get(ctx, client.ObjectKeyFromObject(darkroom), object); err != nil {
		return none, client.IgnoreNotFound(err)
	}
	if !metav1.IsControlledBy(object, darkroom) {
		return none, nil
	}
	return object, nil
}

// diagnose finds the cause of pods that are not ready, or a pod to probe for the cause. It returns the time until the
// next diagnosis.
func (r *Reconciler) diagnose(ctx context.Context, o *Observation) (again time.Duration, err error) {
	key, deployment, now := client.ObjectKeyFromObject(o.Darkroom), o.Deployment, r.Clock.Now()
	if deployment == nil || o.Darkroom.DeletionTimestamp != nil || deployment.Status.Replicas == 0 ||
		determineRollout(*o).ready == metav1.ConditionTrue {
		// Nothing is wrong, or there are no pods yet. The next event of the Deployment triggers a reconcile.
		r.diagnoses.Delete(key)
		return 0, nil
	}
	age := now.Sub(lastProgress(deployment))
	if age < podPatience && !rollout.IsOverdue(deployment) {
		r.diagnoses.Delete(key)
		return podPatience - age, nil
	}
	known, _ := r.diagnoses.Load(key)
	if last, found := known.(diagnosis); found && last.holds(now) {
		o.Problem, o.Starting = last.problem, last.starting
		return last.due.Sub(now), nil
	}
	wait, err := r.findCause(ctx, o)
	if err != nil {
		return 0, err
	}
	again = Sooner(min(max(age/4, podPeriodLeast), podPeriodMost), wait)
	r.diagnoses.Store(key, diagnosis{at: now, due: now.Add(again), problem: o.Problem, starting: o.Starting})
	return again, nil
}

// findCause finds the cause of pods that are not ready, or else a pod to probe for the cause. If no pod can be probed
// yet, wait is the time until one can; 0 if no pod is starting.
func (r *Reconciler) findCause(ctx context.Context, o *Observation) (wait time.Duration, err error) {
	deployment := o.Deployment
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil {
		return 0, err
	}
	selected := []client.ListOption{
		client.InNamespace(deployment.Namespace),
		client.MatchingLabelsSelector{Selector: selector},
	}
	pods, err := r.problem(ctx, o, selected)
	if err != nil || o.Problem != nil {
		return 0, err
	}
	waiting := notReady(pods)
	if len(waiting) == 0 || o.Darkroom.Spec.Probe == nil || r.Prober == nil || !rollout.IsObserved(deployment) {
		return 0, nil
	}
	replicaSet, err := currentReplicaSet(ctx, r.Uncached, deployment, selected)
	if err != nil {
		return 0, err
	}
	o.Starting, wait = startingPod(waiting, replicaSet, r.Clock.Now())
	return wait, nil
}

// problem lists the pods of a Darkroom and finds the cause if some are not ready.
func (r *Reconciler) problem(ctx context.Context, o *Observation, selected []client.ListOption) ([]corev1.Pod, error) {
	pods, err := listPods(ctx, r.Uncached, selected)
	if o.Problem = DetermineProblem(pods); err == nil && o.Problem == nil {
		o.Problem, err = r.missingFile(ctx, o.Darkroom)
	}
	return pods, err
}

// lastProgress returns the time of the Deployment's last progress.
func lastProgress(deployment *appsv1.Deployment) time.Time {
	if progressing := rollout.Condition(deployment, appsv1.DeploymentProgressing); progressing != nil {
		return progressing.LastUpdateTime.Time
	}
	return deployment.CreationTimestamp.Time
}
