package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/claims"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// HelmFieldManager owns what the Helm reconciler says in the status.
const HelmFieldManager = "darkroom-helm"

// maxMessageLength bounds the message of a condition, in bytes. Errors can be as
// long as the manifest that they quote.
const maxMessageLength = 4096

// helmClient is what the Helm reconciler of helm-operator-plugins is given as its
// client. That reconciler reads Darkrooms unstructured, and writes back whole
// objects and a whole status, fields of others left out. Here its reads come from
// the typed cache, its update of finalizers is a patch of nothing else, and its
// status is kept in the session of the reconcile, to be applied once at the end.
type helmClient struct {
	client.Client
}

// errStale says that a Darkroom was written since the cache saw it.
var errStale = errors.New("the Darkroom has changed meanwhile")

// session is what helmClient learns during one reconcile.
type session struct {
	// darkroom is the resource as it was first read; nil if it is gone.
	darkroom *v1alpha1.Darkroom
	// status is what the Helm reconciler wants said; nil if nothing new.
	status *v1alpha1.DarkroomStatus
	// released tells that the last finalizer was removed: the resource is gone.
	released bool
	// judgement is what became of its claims; nil if the reconcile did not get so far.
	judgement *claims.Judgement
}

type sessionKey struct{}

func withSession(ctx context.Context) (context.Context, *session) {
	s := &session{}
	return context.WithValue(ctx, sessionKey{}, s), s
}

func sessionFrom(ctx context.Context) *session {
	if s, ok := ctx.Value(sessionKey{}).(*session); ok {
		return s
	}
	return &session{}
}

// Get implements client.Reader.
func (c *helmClient) Get(ctx context.Context, key types.NamespacedName, object client.Object, opts ...client.GetOption) error {
	out, ok := object.(*unstructured.Unstructured)
	if !ok || out.GroupVersionKind() != v1alpha1.GroupVersionKind {
		return c.Client.Get(ctx, key, object, opts...)
	}
	darkroom := &v1alpha1.Darkroom{}
	if err := c.Client.Get(ctx, key, darkroom, opts...); err != nil {
		return err
	}
	if s := sessionFrom(ctx); s.darkroom == nil {
		s.darkroom = darkroom
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(darkroom)
	if err != nil {
		return fmt.Errorf("convert Darkroom %s: %w", key, err)
	}
	out.SetUnstructuredContent(fields)
	out.SetGroupVersionKind(v1alpha1.GroupVersionKind)
	return nil
}

// Update implements client.Writer. The Helm reconciler updates a Darkroom only to
// add or remove its finalizer. The patch tests that the finalizers are as they
// were read, and so neither fails over a change of the status nor undoes what
// somebody else did.
func (c *helmClient) Update(ctx context.Context, object client.Object, opts ...client.UpdateOption) error {
	s := sessionFrom(ctx)
	if s.darkroom == nil || object.GetObjectKind().GroupVersionKind() != v1alpha1.GroupVersionKind {
		return c.Client.Update(ctx, object, opts...)
	}
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value,omitempty"`
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
	err = c.Patch(ctx, patched, client.RawPatch(types.JSONPatchType, raw))
	if apierrors.IsInvalid(err) {
		return fmt.Errorf("%w: %w", errStale, err)
	}
	if err != nil {
		return err
	}
	s.released = patched.DeletionTimestamp != nil && len(patched.Finalizers) == 0
	s.darkroom.Finalizers = patched.Finalizers
	s.darkroom.ResourceVersion = patched.ResourceVersion
	object.SetResourceVersion(patched.ResourceVersion)
	return nil
}

// Status implements client.StatusClient.
func (c *helmClient) Status() client.SubResourceWriter {
	return &helmStatus{SubResourceWriter: c.Client.Status()}
}

type helmStatus struct {
	client.SubResourceWriter
}

// Update implements client.SubResourceWriter: the session keeps the status.
func (*helmStatus) Update(ctx context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
	resource, ok := object.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("status of %T is not the Helm reconciler's to write", object)
	}
	said, _ := resource.Object["status"].(map[string]any)
	var status v1alpha1.DarkroomStatus
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(said, &status); err != nil {
		return fmt.Errorf("read status of Darkroom %s: %w", client.ObjectKeyFromObject(object), err)
	}
	part := helmPart(status)
	sessionFrom(ctx).status = &part
	return nil
}

// report applies what the Helm reconciler said during the session, with the
// generation that it spoke of, unless the resource says so already. A reconcile
// that succeeded and has nothing new to say confirms what it said before.
func (c *helmClient) report(ctx context.Context, s *session, failed bool, now time.Time) error {
	if s.darkroom == nil || s.released {
		return nil
	}
	current := helmPart(s.darkroom.Status)
	part := current
	switch {
	case s.status != nil:
		part = *s.status
	case failed:
		// It failed before it could say anything: what stands is of an earlier time.
		return nil
	}
	part.Conditions = slices.Clone(part.Conditions)
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
	err = c.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(apply),
		client.FieldOwner(HelmFieldManager), client.ForceOwnership)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("report on release of Darkroom %s: %w", client.ObjectKeyFromObject(s.darkroom), err)
	}
	return nil
}

// helmApplyConfiguration has the Helm reconciler's fields and no others: encoding
// the whole status would claim its zero values too.
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
