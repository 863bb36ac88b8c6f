package hosts

import (
	"context"
	"errors"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// attempts limits how often a claim is retried after losing to another writer.
const attempts = 3

// errForeignLease is returned if a host equals the name of an unrelated Lease, such as the leader election Lease.
var errForeignLease = errors.New("a Lease of this name belongs to another program: choose another sub-domain")

// holderError is an error about the holder of a host. Its text is shown to the tenant that waits for the host, and the
// cause may name the Darkroom of another tenant.
type holderError struct{ cause error }

func (holderError) Error() string {
	return "the Darkroom that holds it cannot be read; the cause is in the operator's log"
}

func (e holderError) Unwrap() error { return e.cause }

// hide logs an error about the holder of a host, and returns an error without the cause in its text.
func hide(ctx context.Context, host string, err error) error {
	log.FromContext(ctx).Error(err, "Failed to read the holder of a host", "host", host)
	return holderError{err}
}

// Refusal is a host that a Darkroom wants but another Darkroom holds.
type Refusal struct {
	// Host is the refused host.
	Host string
	// Holder is the Darkroom that holds the host.
	Holder types.NamespacedName
	// Leaving is set if the holder no longer wants the host, but still exists or still has a route for the host.
	Leaving bool
}

// Claim claims each host that a Darkroom wants, and returns the hosts that other Darkrooms hold.
func (c *Claims) Claim(ctx context.Context, darkroom *v1alpha1.Darkroom) ([]Refusal, error) {
	var refusals []Refusal
	for _, host := range c.wanted(darkroom) {
		refusal, err := c.claim(ctx, darkroom, host)
		if err != nil {
			return nil, fmt.Errorf("claim host %s: %w", host, err)
		}
		if refusal != nil {
			refusals = append(refusals, *refusal)
		}
	}
	return refusals, nil
}

// claim claims one host, and tries again if another writer was faster. It returns nil if the Darkroom now holds the host.
func (c *Claims) claim(ctx context.Context, darkroom *v1alpha1.Darkroom, host string) (refusal *Refusal, err error) {
	reader := client.Reader(c.Client)
	for range attempts {
		refusal, err = c.claimOnce(ctx, reader, darkroom, host)
		if !apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return refusal, err
		}
		reader = c.Uncached
	}
	return nil, err
}

// claimOnce makes one attempt to claim a host, given the Lease as the reader returned it.
func (c *Claims) claimOnce(
	ctx context.Context, reader client.Reader, darkroom *v1alpha1.Darkroom, host string,
) (*Refusal, error) {
	lease, err := c.lease(ctx, reader, host)
	if err != nil {
		return nil, err
	}
	switch decide(darkroom, lease, c.Installation) {
	case keep:
		return nil, nil //nolint:nilnil // the Darkroom holds the host
	case create:
		if err := c.restoreToAnother(ctx, darkroom, host); err != nil {
			return nil, err
		}
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: host}}
		assign(lease, darkroom, c.Installation)
		return nil, c.Client.Create(ctx, lease)
	case contend:
		if !isOfHost(lease) {
			return nil, fmt.Errorf("%w: %s/%s", errForeignLease, lease.Namespace, lease.Name)
		}
		if refusal, err := c.contest(ctx, host, HolderOf(lease)); refusal != nil || err != nil {
			return refusal, err
		}
	case renew:
	}
	assign(lease, darkroom, c.Installation)
	return nil, c.Client.Update(ctx, lease)
}

// step is the next action on the Lease of a host in a Darkroom's spec.
type step int

const (
	// keep: the Lease was written for the current spec of the Darkroom.
	keep step = iota
	// create: no Darkroom holds the host.
	create
	// renew: the Darkroom holds the host, but the Lease was written for an earlier spec or by another installation. The
	// update makes a concurrent deletion of the earlier Lease fail.
	renew
	// contend: the Lease names another holder, which may be gone.
	contend
)

// decide returns the next step of an installation for a Darkroom that wants the host of this Lease; lease is nil if it
// does not exist.
func decide(darkroom *v1alpha1.Darkroom, lease *coordinationv1.Lease, installation string) step {
	switch {
	case lease == nil:
		return create
	case HolderOf(lease) != client.ObjectKeyFromObject(darkroom):
		return contend
	case lease.Annotations[v1alpha1.AnnotationClaimedFor] != proof(darkroom),
		lease.Annotations[v1alpha1.AnnotationInstallation] != installation:
		return renew
	default:
		return keep
	}
}

// contest returns the refusal of a host that another Darkroom holds; nil if the holder and its routes are gone. An
// existing holder must release the host itself, because its operator may be about to write a route for the host.
func (c *Claims) contest(ctx context.Context, host string, holder types.NamespacedName) (*Refusal, error) {
	s, err := c.stateOf(ctx, holder, host)
	if err != nil {
		return nil, hide(ctx, host, err)
	}
	if !s.exists && !s.isRouted {
		return nil, nil //nolint:nilnil // nobody holds the host
	}
	return &Refusal{Host: host, Holder: holder, Leaving: !s.wants}, nil
}

// Refusals returns the hosts that a Darkroom wants but others hold, according to the cached Leases. Unlike Claim, it does
// not check whether a holder still exists, and leaves Leaving unset.
func (c *Claims) Refusals(ctx context.Context, darkroom *v1alpha1.Darkroom) ([]Refusal, error) {
	var refusals []Refusal
	for _, host := range c.wanted(darkroom) {
		lease, err := c.lease(ctx, c.Client, host)
		if err != nil {
			return nil, fmt.Errorf("get the Lease of host %s: %w", host, err)
		}
		if decide(darkroom, lease, c.Installation) == contend {
			refusals = append(refusals, Refusal{Host: host, Holder: HolderOf(lease)})
		}
	}
	return refusals, nil
}
