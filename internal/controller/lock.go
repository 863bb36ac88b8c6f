package controller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// NewLock returns the lock of leader election on a lease. The durations are those of the election.
func NewLock(
	kubeconfig *rest.Config, lease types.NamespacedName, leaseDuration, renewDeadline time.Duration,
) (resourcelock.Interface, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("name the holder of the lease %s: %w", lease, err)
	}
	inner, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, lease.Namespace, lease.Name,
		resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())}, kubeconfig, renewDeadline)
	if err != nil {
		return nil, fmt.Errorf("make the lock of the lease %s: %w", lease, err)
	}
	return &lock{Interface: inner, leaseDuration: leaseDuration}, nil
}

// errHeld is returned for a lease that was deleted and whose holder may not know it.
var errHeld = errors.New(
	"the lease was deleted while another process held it: wait until that has made it again, or ended",
)

// lock is a lock that is not free because its lease was deleted. The holder notices that only when it renews the lease,
// makes it again, and writes meanwhile: two leaders would give one host to two Darkrooms. A process that starts just
// then cannot know of a holder.
type lock struct {
	resourcelock.Interface
	leaseDuration time.Duration
	until         time.Time // until when another process may lead
}

// Get implements resourcelock.Interface. One goroutine calls it.
func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	switch {
	case apierrors.IsNotFound(err):
		if time.Now().Before(l.until) {
			return nil, nil, errHeld
		}
	case err == nil && (record.HolderIdentity == "" || record.HolderIdentity == l.Identity()):
		l.until = time.Time{}
	case err == nil || !l.until.IsZero():
		l.until = time.Now().Add(l.leaseDuration) // the holder may have renewed it, or will
	}
	return record, raw, err //nolint:wrapcheck // client-go asks whether it is NotFound
}

// Create implements resourcelock.Interface.
func (l *lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	err := l.Interface.Create(ctx, record)
	if apierrors.IsAlreadyExists(err) {
		l.until = time.Now().Add(l.leaseDuration)
	}
	return err //nolint:wrapcheck // client-go logs it
}
