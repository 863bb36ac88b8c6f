// Package plan previews what an operator with this chart and these settings would change in a cluster. It renders each
// Darkroom and applies its objects, existing and new, in dry-run requests to the API server.
//
// The requests equal the operator's applies (package release), so the result includes the API server's defaults and the
// effects of policies. Secrets of the chart are compared by name, because the name contains a digest of the data.
// Secrets that Darkrooms reference are read to compute the digest in the pod template. A plan contains no data of
// Secrets.
package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/credentials"
	"github.com/darkroom-operator/darkroom-operator/internal/definition"
	"github.com/darkroom-operator/darkroom-operator/internal/hosts"
	"github.com/darkroom-operator/darkroom-operator/internal/redact"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/render"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// parallelism limits the Darkrooms that are compared concurrently.
const parallelism = 8

// Planner makes plans. It does not change the cluster.
type Planner struct {
	// Client reads the cluster and sends dry-run applies.
	Client client.Client
	// Chart, Values, Capabilities, Kinds, Installation, Namespaces and Selector are the operator's settings. No
	// namespaces means all.
	Chart        *render.Chart
	Values       values.Options
	Capabilities render.Capabilities
	Kinds        []schema.GroupVersionKind
	Installation string
	Namespaces   []string
	Selector     labels.Selector
	// LeaseNamespace is the namespace of the Leases of hosts; empty means that Leases in all namespaces count.
	LeaseNamespace string

	// These fields are shared by the Darkrooms of one plan.
	translator *values.Translator
	renderer   *render.Renderer
	rules      *definition.Definition
	// holders maps hosts to the Darkrooms that hold them.
	holders map[string]types.NamespacedName
	live    inventory
	// credentials computes versions as the operator does, because another digest of the same data would also replace
	// pods.
	credentials *credentials.Versions
}

// Make compares the Darkrooms in a namespace that match a selector; an empty namespace means all.
func (p Planner) Make(ctx context.Context, namespace string, selector labels.Selector) (*Plan, error) {
	p.credentials = &credentials.Versions{Cached: p.Client, Uncached: p.Client}
	var err error
	if p.translator, err = values.New(p.Values); err != nil {
		return nil, err
	}
	if p.renderer, err = render.NewRenderer(p.Chart, p.Capabilities); err != nil {
		return nil, err
	}
	if p.rules, err = definition.New(); err != nil {
		return nil, err
	}
	all, err := p.darkrooms(ctx, namespace)
	if err != nil {
		return nil, err
	}
	if p.holders, err = hosts.Holders(ctx, p.Client, p.LeaseNamespace); err != nil {
		return nil, err
	}
	chosen := slices.DeleteFunc(all, func(s subject) bool {
		return !selector.Matches(labels.Set(s.darkroom.Labels)) ||
			!p.Selector.Matches(labels.Set(s.darkroom.Labels)) ||
			len(p.Namespaces) > 0 && !slices.Contains(p.Namespaces, s.darkroom.Namespace)
	})
	if p.live, err = p.inventory(ctx, namespace); err != nil {
		return nil, err
	}
	plan := &Plan{Darkrooms: make([]Darkroom, len(chosen))}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(parallelism)
	for i := range chosen {
		group.Go(func() (err error) {
			plan.Darkrooms[i], err = p.compare(groupCtx, chosen[i])
			return err
		})
	}
	return plan, group.Wait()
}

// subject is a Darkroom as read by this version.
type subject struct {
	darkroom *v1alpha1.Darkroom
	// dropped are its fields that the CRD of this version lacks. skipped is the reason why the operator would ignore
	// it.
	dropped []string
	skipped string
}

// darkrooms reads the Darkrooms in a namespace; empty means all.
func (p *Planner) darkrooms(ctx context.Context, namespace string) ([]subject, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.Kind + "List"))
	if err := p.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list Darkrooms: %w", err)
	}
	subjects := make([]subject, 0, len(list.Items))
	for i := range list.Items {
		darkroom, dropped, err := p.rules.Read(list.Items[i].Object)
		if err != nil {
			return nil, fmt.Errorf("read Darkroom %s: %w", client.ObjectKeyFromObject(&list.Items[i]), err)
		}
		s := subject{darkroom: darkroom, dropped: dropped}
		switch {
		case darkroom.DeletionTimestamp != nil:
			s.skipped = "it is being deleted"
		case !v1alpha1.MayBeHandledBy(p.Installation, darkroom):
			s.skipped = "installation " + v1alpha1.HandledBy(darkroom) + " handles it"
		case v1alpha1.IsPaused(darkroom):
			s.skipped = "it is paused"
		}
		subjects = append(subjects, s)
	}
	return subjects, nil
}

// compare returns the changes to one Darkroom. An error ends the whole plan.
func (p *Planner) compare(ctx context.Context, s subject) (Darkroom, error) {
	out := Darkroom{Namespace: s.darkroom.Namespace, Name: s.darkroom.Name, Skipped: s.skipped, Dropped: s.dropped}
	if s.skipped != "" {
		out.Dropped = nil
		return out, nil
	}
	deployed := v1alpha1.FindCondition(s.darkroom.Status.Conditions, v1alpha1.ConditionDeployed)
	if deployed != nil && deployed.Reason == v1alpha1.ReasonForeignRelease {
		out.refuse(s.darkroom, errors.New(deployed.Message))
		return out, nil
	}
	live := p.live[s.darkroom.UID]
	version, err := p.credentials.Version(ctx, s.darkroom)
	if err != nil {
		return out, err
	}
	desired, err := p.render(s.darkroom, version)
	if err != nil {
		out.refuse(s.darkroom, err)
		return out, nil
	}
	after := map[manifest.Key]*unstructured.Unstructured{}
	for _, object := range desired {
		key := manifest.KeyOf(object)
		before := live[key]
		if after[key], err = p.dryRun(ctx, s.darkroom, object, before); err == nil {
			continue
		}
		if ctx.Err() != nil || !isAnswer(err) {
			return out, fmt.Errorf("preview the apply of %s of Darkroom %s/%s: %w", key,
				out.Namespace, out.Name, err)
		}
		out.refuse(s.darkroom, err)
		return out, nil
	}
	out.fill(s.darkroom, live, after)
	return out, nil
}

// refuse sets the reason why a Darkroom could not be applied, and whether its status already reports that for the
// current generation.
func (d *Darkroom) refuse(darkroom *v1alpha1.Darkroom, err error) {
	d.Refused = redact.Message(darkroom, err.Error())
	ready := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionReady)
	d.RefusedAlready = ready != nil && ready.ObservedGeneration == darkroom.Generation &&
		slices.Contains(reasonsOfRefusal, ready.Reason)
}

// reasonsOfRefusal are the reasons of the condition Ready for Darkrooms that the operator does not apply.
var reasonsOfRefusal = []string{
	v1alpha1.ReasonInvalid, v1alpha1.ReasonReleaseFailed, v1alpha1.ReasonForeignRelease,
}

// render returns the rendered objects of a Darkroom.
func (p *Planner) render(
	darkroom *v1alpha1.Darkroom, credentialsVersion string,
) ([]*unstructured.Unstructured, error) {
	key := client.ObjectKeyFromObject(darkroom)
	state := values.ClusterState{CredentialsVersion: credentialsVersion}
	for _, host := range p.translator.Hosts(darkroom) {
		if holder, isHeld := p.holders[host]; isHeld && holder != key {
			state.RefusedHosts = append(state.RefusedHosts, host)
		}
	}
	vals, err := p.translator.ValuesIn(darkroom, state)
	if err != nil {
		return nil, err
	}
	rendered, err := p.renderer.Render(key, vals)
	if err != nil {
		return nil, err
	}
	return manifest.Parse(rendered.Manifest, darkroom.Namespace)
}

// dryRun returns an object as it would be after an apply. Secrets are returned as rendered, and so are new objects that
// the caller may not create.
func (p *Planner) dryRun(
	ctx context.Context, darkroom *v1alpha1.Darkroom, object, live *unstructured.Unstructured,
) (*unstructured.Unstructured, error) {
	if object.GetKind() == "Secret" {
		return object, nil
	}
	if live == nil {
		return p.dryRunNew(ctx, darkroom, object)
	}
	out, err := release.Apply(ctx, p.Client, darkroom, object, live.GetUID(), client.DryRunAll)
	if err != nil {
		return nil, err
	}
	prune(out)
	if _, set, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "replicas"); !set &&
		out.GetKind() == "Deployment" {
		// The operator leaves the number of replicas to the autoscaler.
		replicas, _, _ := unstructured.NestedFieldCopy(live.Object, "spec", "replicas")
		err = unstructured.SetNestedField(out.Object, replicas, "spec", "replicas")
	}
	return out, err
}

// dryRunNew returns an object that is not in the inventory as it would be after an apply.
func (p *Planner) dryRunNew(
	ctx context.Context, darkroom *v1alpha1.Darkroom, object *unstructured.Unstructured,
) (*unstructured.Unstructured, error) {
	out, err := release.Apply(ctx, p.Client, darkroom, object, "", client.DryRunAll)
	if apierrors.IsConflict(err) {
		existing := &metav1.PartialObjectMetadata{}
		existing.SetGroupVersionKind(object.GroupVersionKind())
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(object), existing); err != nil {
			return nil, err
		}
		if !metav1.IsControlledBy(existing, darkroom) {
			return nil, release.ForeignObject(manifest.KeyOf(object), existing)
		}
		// The object has lost its label.
		out, err = release.Apply(ctx, p.Client, darkroom, object, existing.GetUID(), client.DryRunAll)
	}
	if lacksPermission(err) {
		return object, nil
	}
	if err == nil {
		prune(out)
	}
	return out, err
}

// isAnswer reports whether an error is a decision on an object, for example by a policy or quota, as opposed to a failed
// request, for example because of a missing permission of the caller.
func isAnswer(err error) bool {
	if errors.Is(err, release.ErrForeignObject) || meta.IsNoMatchError(err) {
		return true
	}
	var status apierrors.APIStatus
	return errors.As(err, &status) && !lacksPermission(err) && !apierrors.IsServerTimeout(err) &&
		!apierrors.IsTooManyRequests(err) && !apierrors.IsInternalError(err)
}

// lacksPermission reports whether the caller may not create or patch an object.
func lacksPermission(err error) bool {
	return apierrors.IsForbidden(err) && (strings.Contains(err.Error(), "cannot patch resource") ||
		strings.Contains(err.Error(), "cannot create resource"))
}
