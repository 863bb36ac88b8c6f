package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/claims"
	"github.com/darkroom-operator/darkroom-operator/internal/preflight"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/status"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// maxMessageLength bounds the message of a condition, in bytes. Errors can be as long as
// the manifest that they quote.
const maxMessageLength = 4096

// errStale is returned if a Darkroom was written after the cached version.
var errStale = errors.New("the Darkroom has changed since it was read")

// session is one reconcile of one Darkroom. It serves the Helm reconciler of
// helm-operator-plugins as its client, its values translator and its source of action
// clients. That reconciler reads Darkrooms as unstructured objects, and writes back whole
// objects and a whole status, without the fields of others. Here reads return the typed
// Darkroom from the cache, an update of finalizers becomes a patch of the finalizers only,
// and the status is held and passed to the status controller at the end.
type session struct {
	client.Client
	parts *helmReconciler

	// darkroom is the resource as the cache had it at the start.
	darkroom *v1alpha1.Darkroom
	// status is the status that the Helm reconciler wrote; nil if none.
	status *v1alpha1.DarkroomStatus
	// uninstalled is set when the operator's finalizer was removed from a Darkroom that is
	// being deleted, and released when no other finalizer was left either.
	uninstalled, released bool
	// values are those of the translation, and judgement is its decision on the claims of the
	// Darkroom. They are nil before.
	values    chartutil.Values
	judgement *claims.Judgement
}

// Get implements client.Reader. For the Helm reconciler an uninstalled Darkroom is gone;
// otherwise it would wait for the finalizers of others.
func (s *session) Get(ctx context.Context, key types.NamespacedName, object client.Object, opts ...client.GetOption) error {
	out, ok := object.(*unstructured.Unstructured)
	if !ok || out.GroupVersionKind() != v1alpha1.GroupVersionKind || key != keyOf(s.darkroom) {
		return s.Client.Get(ctx, key, object, opts...)
	}
	if s.uninstalled {
		return apierrors.NewNotFound(v1alpha1.GroupVersion.WithResource("darkrooms").GroupResource(), key.Name)
	}
	// It gets only what it reads, because converting the rest would cost allocations in each
	// reconcile: not the spec, which is translated from the typed Darkroom, and only its own part
	// of the status. Conditions of earlier generations are left out: it would not write the
	// status of a failure that it finds there already.
	shown := v1alpha1.Darkroom{TypeMeta: s.darkroom.TypeMeta, ObjectMeta: s.darkroom.ObjectMeta, Status: status.HelmPart(s.darkroom.Status)}
	shown.Status.Conditions = slices.DeleteFunc(shown.Status.Conditions, func(condition v1alpha1.Condition) bool {
		return condition.ObservedGeneration < shown.Generation
	})
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&shown)
	if err != nil {
		return fmt.Errorf("convert Darkroom %s: %w", key, err)
	}
	if shown.Status.DeployedRelease != nil {
		// It compares this, and would write the whole status in each reconcile if it differed.
		err := unstructured.SetNestedField(fields, s.parts.releases.Store.Manifest(key), "status", "deployedRelease", "manifest")
		if err != nil {
			return fmt.Errorf("convert Darkroom %s: %w", key, err)
		}
	}
	out.SetUnstructuredContent(fields)
	out.SetGroupVersionKind(v1alpha1.GroupVersionKind)
	return nil
}

// Update implements client.Writer. The Helm reconciler updates a Darkroom only to add or
// remove its finalizer. The patch tests UID and finalizers. It neither fails because the
// status changed nor reverts changes by others.
func (s *session) Update(ctx context.Context, object client.Object, opts ...client.UpdateOption) error {
	if object.GetObjectKind().GroupVersionKind() != v1alpha1.GroupVersionKind {
		return s.Client.Update(ctx, object, opts...)
	}
	const path = "/metadata/finalizers"
	patch := []operation{{"test", "/metadata/uid", string(s.darkroom.UID)}}
	if before := s.darkroom.Finalizers; len(before) > 0 {
		patch = append(patch, operation{"test", path, before})
	} else {
		patch = append(patch, operation{"test", "/metadata/resourceVersion", s.darkroom.ResourceVersion})
	}
	if after := object.GetFinalizers(); len(after) > 0 {
		patch = append(patch, operation{"add", path, after})
	} else {
		patch = append(patch, operation{Op: "remove", Path: path})
	}
	raw, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("encode patch of finalizers: %w", err)
	}
	patched := s.darkroom.DeepCopy()
	err = s.Patch(ctx, patched, client.RawPatch(types.JSONPatchType, raw))
	if apierrors.IsInvalid(err) {
		return fmt.Errorf("%w: %w", errStale, err)
	}
	if err != nil {
		return err
	}
	s.uninstalled = patched.DeletionTimestamp != nil
	s.released = s.uninstalled && len(patched.Finalizers) == 0
	s.darkroom.Finalizers = patched.Finalizers
	s.darkroom.ResourceVersion = patched.ResourceVersion
	object.SetResourceVersion(patched.ResourceVersion)
	return nil
}

// Status implements client.StatusClient.
func (s *session) Status() client.SubResourceWriter {
	return &sessionStatus{SubResourceWriter: s.Client.Status(), session: s}
}

type sessionStatus struct {
	client.SubResourceWriter
	session *session
}

// Update implements client.SubResourceWriter: the session keeps the status.
func (w *sessionStatus) Update(_ context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
	resource, ok := object.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("the Helm reconciler must not write the status of %T", object)
	}
	fields, _ := resource.Object["status"].(map[string]any)
	var written v1alpha1.DarkroomStatus
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &written); err != nil {
		return fmt.Errorf("read status of Darkroom %s: %w", client.ObjectKeyFromObject(object), err)
	}
	part := status.HelmPart(written)
	w.session.status = &part
	return nil
}

// Translate implements the values translator of the Helm reconciler. It passes the state of
// the cluster to the translation: the hosts that belong to others, and the version of the
// referenced Secret. A Darkroom is translated once in each reconcile.
func (s *session) Translate(ctx context.Context, _ *unstructured.Unstructured) (chartutil.Values, error) {
	if s.judgement != nil {
		return s.values, nil
	}
	var err error
	s.values, s.judgement, err = s.parts.translator.translate(ctx, s.darkroom)
	return s.values, err
}

// isAtRest reports whether the Helm reconciler would do nothing: the status says so of the
// present generation, and the release and its objects are as they should be. That reconciler
// allocates as much memory for this result as all the steps that lead to it.
func (s *session) isAtRest(ctx context.Context) bool {
	reason := restingReason(s.darkroom)
	if reason == "" {
		return false
	}
	vals, err := s.Translate(ctx, nil)
	if err != nil {
		return false
	}
	revision, atRest := s.parts.releases.AtRest(ctx, s.darkroom, vals)
	return atRest && (revision == 1) == (reason == v1alpha1.ReasonInstallSuccessful)
}

// restingReason returns the reason of the condition Deployed of a Darkroom whose status is what
// the Helm reconciler reports of an unchanged release; else nothing.
func restingReason(darkroom *v1alpha1.Darkroom) string {
	if darkroom.DeletionTimestamp != nil || darkroom.Annotations[v1alpha1.AnnotationPaused] == "true" ||
		!controllerutil.ContainsFinalizer(darkroom, finalizer) ||
		darkroom.Status.DeployedRelease == nil || darkroom.Status.DeployedRelease.Name != darkroom.Name {
		return ""
	}
	reason, found := "", 0
	for i := range darkroom.Status.Conditions {
		condition := &darkroom.Status.Conditions[i]
		want := metav1.ConditionFalse
		switch condition.Type {
		case v1alpha1.ConditionContested, v1alpha1.ConditionPreflight:
			return ""
		case v1alpha1.ConditionDeployed:
			want, reason = metav1.ConditionTrue, condition.Reason
		case v1alpha1.ConditionInitialized:
			want = metav1.ConditionTrue
		case v1alpha1.ConditionIrreconcilable, v1alpha1.ConditionReleaseFailed, v1alpha1.ConditionPaused:
		default:
			continue
		}
		if condition.Status != want || condition.ObservedGeneration != darkroom.Generation {
			return ""
		}
		found++
	}
	if found < 5 {
		return ""
	}
	return reason
}

// ActionClientFor implements helmclient.ActionClientGetter.
func (s *session) ActionClientFor(ctx context.Context, _ client.Object) (helmclient.ActionInterface, error) {
	return measured{s.parts.releases, s.parts.metrics}.ActionClientFor(ctx, s.darkroom)
}

// report passes the status of the Helm reconciler, with its generation, to the status
// controller, unless the resource has it already. A successful reconcile without a new
// status confirms the previous one.
func (s *session) report(cause error, now time.Time) {
	if s.released {
		return
	}
	current := status.HelmPart(s.darkroom.Status)
	part := current
	switch {
	case errors.Is(cause, release.ErrHeld):
		// Nothing was attempted, so the previous result still applies.
	case s.status != nil:
		part = *s.status
	case cause != nil:
		// It failed before it had a status, so the existing one is outdated.
		return
	}
	part.Conditions = s.conditions(part.Conditions, cause)
	for i := range part.Conditions {
		condition := &part.Conditions[i]
		condition.ObservedGeneration = s.darkroom.Generation
		condition.Message = shorten(values.Redact(s.darkroom, condition.Message))
		if condition.Type == v1alpha1.ConditionDeployed {
			// The Helm reconciler puts the chart's notes here, which are a page long.
			condition.Message, _, _ = strings.Cut(condition.Message, "\n")
		}
		before := v1alpha1.FindCondition(current.Conditions, condition.Type)
		if before != nil && before.Status == condition.Status {
			condition.LastTransitionTime = before.LastTransitionTime
		} else {
			condition.LastTransitionTime = metav1.NewTime(now).Rfc3339Copy()
		}
	}
	if !equality.Semantic.DeepEqual(part, current) {
		s.parts.reports.Report(s.darkroom, part)
	}
}

// conditions adds conditions to those of the Helm reconciler.
func (s *session) conditions(conditions []v1alpha1.Condition, cause error) []v1alpha1.Condition {
	isOurs := func(condition v1alpha1.Condition) bool {
		return condition.Type == v1alpha1.ConditionContested || condition.Type == v1alpha1.ConditionPreflight
	}
	conditions = slices.DeleteFunc(slices.Clone(conditions), isOurs)
	if verdict, held := s.parts.releases.Held(keyOf(s.darkroom)); held {
		conditions = append(conditions, preflightCondition(verdict))
	}
	if isForeignRelease(cause) {
		refused := v1alpha1.Condition{
			Type: v1alpha1.ConditionDeployed, Status: metav1.ConditionFalse,
			Reason: v1alpha1.ReasonForeignRelease, Message: cause.Error(),
		}
		if deployed := v1alpha1.FindCondition(conditions, v1alpha1.ConditionDeployed); deployed != nil {
			*deployed = refused
		} else {
			conditions = append(conditions, refused)
		}
	}
	var messages []string
	for _, contest := range s.parts.releases.Contests(keyOf(s.darkroom)) {
		messages = append(messages, release.ContestMessage(contest))
	}
	if len(messages) > 0 {
		conditions = append(conditions, v1alpha1.Condition{
			Type: v1alpha1.ConditionContested, Status: metav1.ConditionTrue,
			Reason: v1alpha1.ReasonForeignWriter, Message: strings.Join(messages, " "),
		})
	}
	return conditions
}

// preflightCondition returns the condition Preflight of a change that is held back.
func preflightCondition(verdict preflight.Verdict) v1alpha1.Condition {
	condition := v1alpha1.Condition{
		Type: v1alpha1.ConditionPreflight, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonPreflightRunning,
		Message: "Before the change is applied, one pod of it is started and must serve the image of spec.probe.",
	}
	switch {
	case verdict.Reason != "":
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, verdict.Reason, verdict.Message
	case verdict.State == preflight.Waiting:
		condition.Reason = v1alpha1.ReasonPreflightWaiting
		condition.Message = "Waiting for a preflight check: the limit of the operator (--max-preflights) is reached."
	}
	return condition
}

func shorten(message string) string {
	if len(message) <= maxMessageLength {
		return message
	}
	return message[:maxMessageLength] + " … (shortened)"
}
