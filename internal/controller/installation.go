package controller

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"gomodules.xyz/jsonpatch/v2"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/status"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// EventClaimRefused is the reason of the event on a Darkroom that the operator cannot claim, because
// the API server refuses the finalizer or the annotation of the claim.
const EventClaimRefused = "ClaimRefused"

// DefaultInstallation is the name of an installation that was given none.
const DefaultInstallation = "local"

// installation separates several installations of the operator in one cluster. The first
// one that reconciles a Darkroom writes its name into the annotation
// AnnotationInstallation, and the others ignore the Darkroom. Shards of one installation
// share its name. Changing the annotation moves the Darkroom: the named installation takes
// over the objects, as after a restart.
type installation struct {
	patcher

	name     string
	recorder release.Recorder
	// lease is that of this operator's leader, as NAMESPACE/NAME; empty without leader election.
	lease  string
	leases leases
	// seen are the Darkrooms of other installations, by name: a foreign of each.
	seen sync.Map
}

// foreign is a generation of a Darkroom that another installation handles, since a time.
type foreign struct {
	uid        types.UID
	owner      string
	generation int64
	since      time.Time
}

// unhandledPeriod is how long the installation of a Darkroom may take to report on a change, or to renew
// a lease that has expired, before another installation reports that none reacts.
const unhandledPeriod = time.Minute

// handles reports whether this installation has claimed a Darkroom.
func (i *installation) handles(darkroom *v1alpha1.Darkroom) bool {
	return v1alpha1.HandledBy(darkroom) == i.name
}

// claim reports whether this installation handles a Darkroom. It claims one that no other
// handles, unless it has the claim, in the request that adds the finalizer. The error is
// errStale if the Darkroom differs from the cache.
func (i *installation) claim(ctx context.Context, darkroom *v1alpha1.Darkroom) (bool, error) {
	switch {
	case !v1alpha1.MayBeHandledBy(i.name, darkroom):
		return false, nil
	case darkroom.Annotations[v1alpha1.AnnotationInstallation] == "":
		return true, i.write(ctx, darkroom)
	default:
		return true, nil
	}
}

// write writes the claim, and the finalizer unless the Darkroom is being deleted. It fails
// if the Darkroom differs from the cache.
func (i *installation) write(ctx context.Context, darkroom *v1alpha1.Darkroom) error {
	patch := []jsonpatch.Operation{jsonpatch.NewOperation("test", "/metadata/resourceVersion", darkroom.ResourceVersion)}
	if len(darkroom.Annotations) == 0 {
		patch = append(patch, jsonpatch.NewOperation("add", "/metadata/annotations",
			map[string]string{v1alpha1.AnnotationInstallation: i.name}))
	} else {
		patch = append(patch, jsonpatch.NewOperation("add",
			"/metadata/annotations/"+strings.ReplaceAll(v1alpha1.AnnotationInstallation, "/", "~1"), i.name))
	}
	if darkroom.DeletionTimestamp == nil && !controllerutil.ContainsFinalizer(darkroom, finalizer) {
		patch = append(patch, jsonpatch.NewOperation("add", "/metadata/finalizers", append(darkroom.Finalizers, finalizer)))
	}
	patched, err := i.patch(ctx, darkroom, patch...)
	if err != nil {
		return fmt.Errorf("claim Darkroom %s: %w", client.ObjectKeyFromObject(darkroom), err)
	}
	darkroom.ObjectMeta = patched.ObjectMeta
	return nil
}

// report reports that a Darkroom could not be claimed, once for each cause.
func (i *installation) report(ctx context.Context, darkroom *v1alpha1.Darkroom, cause error, now time.Time) error {
	message := values.Quote(darkroom, cause.Error())
	stalled := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionStalled)
	if stalled != nil && stalled.Reason == EventClaimRefused && stalled.Message == message {
		return nil
	}
	if err := status.ReportStalled(ctx, i.client, darkroom, EventClaimRefused, message, now); err != nil {
		return fmt.Errorf("report on Darkroom %s: %w", client.ObjectKeyFromObject(darkroom), err)
	}
	i.recorder.Event(darkroom, true, EventClaimRefused, message)
	return nil
}

// refuse records that another installation handles a Darkroom, and reports the Darkroom as stalled
// if that installation has not reported on its generation for a while, or is gone. It returns the time
// until the next check; 0 if none is needed.
func (i *installation) refuse(ctx context.Context, darkroom *v1alpha1.Darkroom, now time.Time) (time.Duration, error) {
	owner := v1alpha1.HandledBy(darkroom)
	silent, err := i.silentSince(ctx, darkroom, owner, now)
	if err != nil || silent.IsZero() {
		return 0, err
	}
	if left := unhandledPeriod - now.Sub(silent); left > 0 {
		return left, nil
	}
	stalled := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionStalled)
	if stalled != nil && stalled.Reason == v1alpha1.EventOtherInstallation &&
		stalled.ObservedGeneration == darkroom.Generation {
		return 0, nil
	}
	message := fmt.Sprintf(
		"Handled by the installation %q of the operator, which does not react, not by %q. To move it: kubectl annotate darkroom %s "+
			"-n %s %s=%s --overwrite",
		owner, i.name, darkroom.Name, darkroom.Namespace, v1alpha1.AnnotationInstallation, i.name)
	if err := status.ReportStalled(ctx, i.client, darkroom, v1alpha1.EventOtherInstallation, message, now); err != nil {
		return 0, fmt.Errorf("report on Darkroom %s of another installation: %w", client.ObjectKeyFromObject(darkroom), err)
	}
	i.recorder.Event(darkroom, true, v1alpha1.EventOtherInstallation, message)
	return 0, nil
}

// silentSince returns since when the installation that handles a Darkroom owes a report on its generation, or
// until when its lease lasts if it has reported; zero if it has, and nothing is known of its lease.
func (i *installation) silentSince(
	ctx context.Context, darkroom *v1alpha1.Darkroom, owner string, now time.Time,
) (time.Time, error) {
	value, _ := i.seen.Load(client.ObjectKeyFromObject(darkroom))
	known, _ := value.(foreign)
	if known.uid != darkroom.UID || known.owner != owner || known.generation != darkroom.Generation {
		known = foreign{darkroom.UID, owner, darkroom.Generation, now}
		i.seen.Store(client.ObjectKeyFromObject(darkroom), known)
	}
	last := darkroom.Status
	if last.ObservedGeneration == darkroom.Generation && (last.Installation == owner || last.Installation == "") {
		return i.leases.expiry(ctx, last.Lease, now)
	}
	return known.since, nil
}
