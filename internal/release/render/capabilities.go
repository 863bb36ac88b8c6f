package render

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"
)

// capabilitiesPeriod is the interval at which the capabilities of the cluster are
// discovered. Helm discovers them before every action, but they change rarely.
const capabilitiesPeriod = 10 * time.Minute

// Capabilities knows the version and API groups of the cluster. Started by a
// manager, it keeps them fresh.
type Capabilities struct {
	discovery discovery.DiscoveryInterface
	current   atomic.Pointer[chartutil.Capabilities]
}

// NewCapabilities discovers the capabilities of the cluster once.
func NewCapabilities(client discovery.DiscoveryInterface) (*Capabilities, error) {
	c := &Capabilities{discovery: client}
	if err := c.refresh(); err != nil {
		return nil, err
	}
	return c, nil
}

// Get returns the capabilities; the same pointer while they are the same.
func (c *Capabilities) Get() *chartutil.Capabilities {
	return c.current.Load()
}

// NeedLeaderElection implements manager.LeaderElectionRunnable. A standby manager keeps the
// capabilities fresh too, so that it can take over.
func (c *Capabilities) NeedLeaderElection() bool { return false }

// Start refreshes the capabilities until the context ends. On an error it keeps the known
// ones until the next refresh.
func (c *Capabilities) Start(ctx context.Context) error {
	ticker := time.NewTicker(capabilitiesPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := c.refresh(); err != nil {
				ctrl.LoggerFrom(ctx).Error(err, "Cluster capabilities not refreshed")
			}
		}
	}
}

func (c *Capabilities) refresh() error {
	version, err := c.discovery.ServerVersion()
	if err != nil {
		return fmt.Errorf("discover the version of the cluster: %w", err)
	}
	apiVersions, err := action.GetVersionSet(c.discovery)
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return fmt.Errorf("discover the API groups of the cluster: %w", err)
	}
	slices.Sort(apiVersions)
	next := &chartutil.Capabilities{
		KubeVersion: chartutil.KubeVersion{Version: version.GitVersion, Major: version.Major, Minor: version.Minor},
		APIVersions: apiVersions,
		HelmVersion: chartutil.DefaultCapabilities.HelmVersion,
	}
	if current := c.current.Load(); current == nil || !reflect.DeepEqual(current, next) {
		c.current.Store(next)
	}
	return nil
}
