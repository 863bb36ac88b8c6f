// Package plan previews what an operator with this chart and these settings would change in a cluster: it renders each
// Darkroom, and asks the API server how the objects would look after an apply, in requests that are not persisted.
//
// The requests are the operator's own applies (package release), so the API server answers with its
// defaults and policies; there is no model of it. Secrets of the chart are compared by name, which contains a
// digest of their data; those that Darkrooms reference are read for the digest on their pods. No data of a
// Secret is in a plan.
package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// parallelism bounds the Darkrooms that are compared at once.
const parallelism = 8

// Planner makes plans. It changes nothing in the cluster.
type Planner struct {
	// Client reads the cluster, and sends applies that are not persisted.
	Client client.Client
	// Chart, Values, Capabilities, Kinds, Installation, Namespaces and Selector are the operator's. No
	// namespaces means all.
	Chart        *render.Chart
	Values       values.Options
	Capabilities render.Capabilities
	Kinds        []schema.GroupVersionKind
	Installation string
	Namespaces   []string
	Selector     labels.Selector
	// LeaseNamespace is the namespace of the Leases of hosts; empty means that Leases of all namespaces count.
	LeaseNamespace string

	// These are shared by the Darkrooms of one plan.
	translator *values.Translator
	renderer   *render.Renderer
	rules      *definition.Definition
	// holders are the Darkrooms that have hosts.
	holders map[string]types.NamespacedName
	live    inventory
	// credentials are read as the operator reads them: another digest of the same data replaces pods, too.
	credentials *credentials.Versions
}

// Make compares the Darkrooms of a namespace that match a selector; of all namespaces if it is empty.
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

// subject is a Darkroom as this version reads it.
type subject struct {
	darkroom *v1alpha1.Darkroom
	// dropped are the fields that its CRD lacks, and skipped says why the operator would leave it alone.
	dropped []string
	skipped string
}

// darkrooms reads the Darkrooms of a namespace; of all if it is empty.
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

// compare returns what would change for one Darkroom. The error is one of the whole plan.
func (p *Planner) compare(ctx context.Context, s subject) (Darkroom, error) {
	out := Darkroom{Namespace: s.darkroom.Namespace, Name: s.darkroom.Name, Skipped: s.skipped, Dropped: s.dropped}
	if s.skipped != "" {
		out.Dropped = nil
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
			return out, fmt.Errorf("ask the API server how %s of Darkroom %s/%s would look: %w", key,
				out.Namespace, out.Name, err)
		}
		out.refuse(s.darkroom, err)
		return out, nil
	}
	out.fill(s.darkroom, live, after)
	return out, nil
}

// refuse sets why a Darkroom could not be applied, and whether the status of its generation says that it is not today.
func (d *Darkroom) refuse(darkroom *v1alpha1.Darkroom, err error) {
	d.Refused = redact.Message(darkroom, err.Error())
	ready := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionReady)
	d.RefusedAlready = ready != nil && ready.ObservedGeneration == darkroom.Generation &&
		(ready.Reason == v1alpha1.ReasonInvalid || ready.Reason == v1alpha1.ReasonReleaseFailed)
}

// render returns the objects of a Darkroom.
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

// dryRun returns an object as it would be after an apply. New objects and Secrets are returned as they were rendered.
func (p *Planner) dryRun(
	ctx context.Context, darkroom *v1alpha1.Darkroom, object, live *unstructured.Unstructured,
) (*unstructured.Unstructured, error) {
	if live == nil || object.GetKind() == "Secret" {
		return object, nil
	}
	out, err := release.Apply(ctx, p.Client, darkroom, object, live.GetUID(), client.DryRunAll)
	if err != nil {
		return nil, err
	}
	prune(out)
	if _, set, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "replicas"); !set &&
		out.GetKind() == "Deployment" {
		// The operator leaves the number of pods to the autoscaler.
		replicas, _, _ := unstructured.NestedFieldCopy(live.Object, "spec", "replicas")
		err = unstructured.SetNestedField(out.Object, replicas, "spec", "replicas")
	}
	return out, err
}

// isAnswer reports whether an error is the API server's decision on an object, for example by a policy or
// quota, and not a failure to ask it, such as a permission that the caller lacks.
func isAnswer(err error) bool {
	var status apierrors.APIStatus
	lacksPermission := apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot patch resource")
	return errors.As(err, &status) && !lacksPermission && !apierrors.IsServerTimeout(err) &&
		!apierrors.IsTooManyRequests(err) && !apierrors.IsInternalError(err)
}
