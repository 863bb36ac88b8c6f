package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// leasePeriod is how long what the API server says of a lease is used.
const leasePeriod = unhandledPeriod / 2

// leases are the leases of other installations' leaders. As in leader election, a lease counts from when
// this process saw its last renewal, so that clocks need not agree.
type leases struct {
	live client.Reader
	// namespaces are those that the operator is limited to; none means all.
	namespaces []string

	seen sync.Map // types.NamespacedName → lease
}

// lease is a lease as it was read, and until when its holder may be alive.
type lease struct {
	version      string // empty if there is none
	expires, due time.Time
}

// expiry returns until when the holder of a lease, NAMESPACE/NAME, may be alive; zero if that is unknown: there
// is no name, or the operator may not read it.
func (l *leases) expiry(ctx context.Context, name string, now time.Time) (time.Time, error) {
	namespace, name, found := strings.Cut(name, "/")
	if !found || len(l.namespaces) > 0 && !slices.Contains(l.namespaces, namespace) {
		return time.Time{}, nil
	}
	key := types.NamespacedName{Namespace: namespace, Name: name}
	value, isKnown := l.seen.Load(key)
	known, _ := value.(lease)
	if isKnown && now.Before(known.due) {
		return known.expires, nil
	}
	read := &coordinationv1.Lease{}
	switch err := l.live.Get(ctx, key, read); {
	case apierrors.IsForbidden(err):
		return time.Time{}, nil
	case client.IgnoreNotFound(err) != nil:
		return time.Time{}, fmt.Errorf("read the lease %s of another installation: %w", key, err)
	}
	if !isKnown || read.ResourceVersion != known.version {
		duration := time.Duration(ptr.Deref(read.Spec.LeaseDurationSeconds, 0)) * time.Second
		known = lease{version: read.ResourceVersion, expires: now.Add(duration)}
	}
	known.due = now.Add(leasePeriod)
	l.seen.Store(key, known)
	return known.expires, nil
}
