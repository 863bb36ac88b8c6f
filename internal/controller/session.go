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

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/claims"
	"github.com/darkroom-operator/darkroom-operator/internal/preflight"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// HelmFieldManager owns the status fields of the Helm reconciler.
const HelmFieldManager = "darkroom-helm"

// maxMessageLength bounds the message of a condition, in bytes. Errors can be as long as
// the manifest that they quote.
const maxMessageLength = 4096

// errStale says that a Darkroom was written after the cache saw it.
var errStale = errors.New("the Darkroom has changed in the meantime")

// session is one reconcile of one Darkroom, in the three roles that the Helm reconciler of
// helm-operator-plugins needs: its client, its values translator and its source of action
// clients. That reconciler reads Darkrooms unstructured, and writes back whole objects and a
// whole status, without the fields of others. Here its reads return the typed Darkroom from
// the cache, its update of finalizers becomes a patch of nothing else, and its status is
// kept, to be applied once at the end.
type session struct {
	client.Client
	parts *helmReconciler

	// darkroom is the resource as the cache had it at the start.
	darkroom *v1alpha1.Darkroom
	// status is the status that the Helm reconciler wants to write; nil if none.
	status *v1alpha1.DarkroomStatus
	// uninstalled is set when the operator's finalizer was removed from a Darkroom that is
	// being deleted, and released when no other finalizer was left either.
	uninstalled, released bool
	// judgement is the outcome of its claims; nil if the reconcile did not get so far.
	judgement *claims.Judgement
}

// Get implements client.Reader. To the Helm reconciler an uninstalled Darkroom is gone: it
// would otherwise wait for the finalizers of others.
func (s *session) Get(ctx context.Context, key types.NamespacedName, object client.Object, opts ...client.GetOption) error {
	out, ok := object.(*unstructured.Unstructured)
	if !ok || out.GroupVersionKind() != v1alpha1.GroupVersionKind || key != keyOf(s.darkroom) {
		return s.Client.Get(ctx, key, object, opts...)
	}
	if s.uninstalled {
		return apierrors.NewNotFound(v1alpha1.GroupVersion.WithResource("darkrooms").GroupResource(), key.Name)
	}
	// Of the status it gets its own part: converting the rest would cost allocations at each
	// reconcile, and nothing reads it.
	shown := *s.darkroom
	shown.Status = helmPart(shown.Status)
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&shown)
	if err != nil {
		return fmt.Errorf("convert Darkroom %s: %w", key, err)
	}
	out.SetUnstructuredContent(fields)
	out.SetGroupVersionKind(v1alpha1.GroupVersionKind)
	return nil
}

// Update implements client.Writer. The Helm reconciler updates a Darkroom only to add or
// remove its finalizer. The patch tests that UID and finalizers are as they were read, so it
// neither fails because the status changed nor reverts what others did.
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
	var status v1alpha1.DarkroomStatus
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &status); err != nil {
		return fmt.Errorf("read status of Darkroom %s: %w", client.ObjectKeyFromObject(object), err)
	}
	part := helmPart(status)
	w.session.status = &part
	return nil
}

// Translate implements the values translator of the Helm reconciler. It adds to the pure
// translation what only the cluster knows: the hosts that belong to others, and the state of
// the referenced Secret.
func (s *session) Translate(ctx context.Context, _ *unstructured.Unstructured) (chartutil.Values, error) {
	vals, judgement, err := s.parts.translator.translate(ctx, s.darkroom)
	s.judgement = judgement
	return vals, err
}

// ActionClientFor implements helmclient.ActionClientGetter.
func (s *session) ActionClientFor(ctx context.Context, _ client.Object) (helmclient.ActionInterface, error) {
	return measured{s.parts.releases, s.parts.metrics}.ActionClientFor(ctx, s.darkroom)
}

// report applies the status of the Helm reconciler, with the generation that it refers to,
// unless the resource has it already. A reconcile that succeeded without a new status
// confirms the one before.
func (s *session) report(ctx context.Context, cause error, now time.Time) error {
	if s.released {
		return nil
	}
	current := helmPart(s.darkroom.Status)
	part := current
	switch {
	case errors.Is(cause, release.ErrHeld):
		// Nothing was tried, so the last attempt still counts.
	case s.status != nil:
		part = *s.status
	case cause != nil:
		// It failed before it had a status: the present one is of an earlier time.
		return nil
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
	if equality.Semantic.DeepEqual(part, current) {
		return nil
	}
	apply, err := helmApplyConfiguration(s.darkroom, part)
	if err != nil {
		return err
	}
	err = s.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(apply),
		client.FieldOwner(HelmFieldManager), client.ForceOwnership)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("report on release of Darkroom %s: %w", keyOf(s.darkroom), err)
	}
	return nil
}

// conditions adds to the conditions of the Helm reconciler those for which it has none.
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

// preflightCondition says why a change is held back.
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
		condition.Message = "The change waits for its preflight check: the operator runs as many as --max-preflights allows."
	}
	return condition
}

// helmApplyConfiguration has the Helm reconciler's fields and no others: encoding the whole
// status would claim its zero values too.
func helmApplyConfiguration(darkroom *v1alpha1.Darkroom, part v1alpha1.DarkroomStatus) (*unstructured.Unstructured, error) {
	status := map[string]any{}
	raw, err := json.Marshal(struct {
		Conditions      []v1alpha1.Condition      `json:"conditions,omitempty"`
		DeployedRelease *v1alpha1.DeployedRelease `json:"deployedRelease,omitempty"`
	}{part.Conditions, part.DeployedRelease})
	if err != nil {
		return nil, fmt.Errorf("encode Helm conditions: %w", err)
	}
	if err := json.Unmarshal(raw, &status); err != nil {
		return nil, fmt.Errorf("encode Helm conditions: %w", err)
	}
	out := &unstructured.Unstructured{Object: map[string]any{"status": status}}
	out.SetGroupVersionKind(v1alpha1.GroupVersionKind)
	out.SetNamespace(darkroom.Namespace)
	out.SetName(darkroom.Name)
	out.SetUID(darkroom.UID)
	return out, nil
}

func shorten(message string) string {
	if len(message) <= maxMessageLength {
		return message
	}
	return message[:maxMessageLength] + " … (shortened)"
}
