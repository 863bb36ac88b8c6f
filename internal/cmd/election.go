package cmd

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// With these defaults, the leader does not exit while an API server restarts for half a minute. A killed leader is
// replaced after the lease duration. A stopped leader releases its lease.
const (
	leaseDuration = 60 * time.Second
	renewDeadline = 45 * time.Second
	retryPeriod   = 2 * time.Second
)

// election contains the flags of leader election.
type election struct {
	enabled                                   bool
	namespace                                 string
	leaseDuration, renewDeadline, retryPeriod time.Duration
}

func (e *election) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&e.enabled, "leader-elect", false, "enable leader election")
	flags.StringVar(&e.namespace, "lease-namespace", "",
		"namespace of the Leases of hosts and of leader election, shared by shards (default: the manager's namespace, or "+
			"outside of a cluster the namespace of the kubeconfig)")
	flags.DurationVar(&e.leaseDuration, "leader-elect-lease-duration", leaseDuration,
		"time after which another replica replaces a killed leader")
	flags.DurationVar(&e.renewDeadline, "leader-elect-renew-deadline", renewDeadline,
		"time for which a leader retries to renew its lease before it exits")
	flags.DurationVar(&e.retryPeriod, "leader-elect-retry-period", retryPeriod,
		"time between attempts to acquire or renew the lease")
}

// validate returns an error for durations that contradict each other.
func (e *election) validate() error {
	switch {
	case e.retryPeriod <= 0:
		return fmt.Errorf("--leader-elect-retry-period=%s: must be more than 0", e.retryPeriod)
	case float64(e.renewDeadline) <= leaderelection.JitterFactor*float64(e.retryPeriod):
		return fmt.Errorf("--leader-elect-renew-deadline=%s: must be more than %g times --leader-elect-retry-period=%s",
			e.renewDeadline, leaderelection.JitterFactor, e.retryPeriod)
	case e.leaseDuration <= e.renewDeadline:
		return fmt.Errorf("--leader-elect-lease-duration=%s: must be more than --leader-elect-renew-deadline=%s",
			e.leaseDuration, e.renewDeadline)
	}
	return nil
}

// leaderElectionID returns the name of the lease. Each installation and shard in a namespace has its own lease and leader.
// The default installation uses the name without a suffix.
func leaderElectionID(installation string, darkrooms labels.Selector, namespaces []string) string {
	id := "darkroom-operator." + v1alpha1.GroupVersion.Group
	if installation == defaultInstallation() && darkrooms.Empty() && len(namespaces) == 0 {
		return id
	}
	sum := sha256.Sum256(
		[]byte(strings.Join(append([]string{installation, darkrooms.String()}, slices.Sorted(slices.Values(namespaces))...),
			"\n")),
	)
	return hex.EncodeToString(sum[:4]) + "." + id
}
