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

// capabilitiesPeriod is the time between two looks at what the cluster can do.
// Helm looks before every action; a cluster's version changes a few times a year.
const capabilitiesPeriod = 10 * time.Minute

// Capabilities knows the version and API groups of the cluster. Started by a
// manager, it keeps them fresh.
type Capabilities struct {
	discovery discovery.DiscoveryInterface
	current   atomic.Pointer[chartutil.Capabilities]
}

// NewCapabilities asks the cluster once and returns its capabilities.
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

// NeedLeaderElection implements manager.LeaderElectionRunnable: a manager that stands by
// keeps the capabilities fresh too, and takes over with those of today.
func (c *Capabilities) NeedLeaderElection() bool { return false }

// Start refreshes the capabilities until the context ends. An error keeps the
// ones known and is tried again at the next turn.
func (c *Capabilities) Start(ctx context.Context) error {
	ticker := time.NewTicker(capabilitiesPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := c.refresh(); err != nil {
				ctrl.LoggerFrom(ctx).Error(err, "Cluster capabilities were not refreshed")
			}
		}
	}
}

func (c *Capabilities) refresh() error {
	version, err := c.discovery.ServerVersion()
	if err != nil {
		return fmt.Errorf("ask the cluster for its version: %w", err)
	}
	apiVersions, err := action.GetVersionSet(c.discovery)
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return fmt.Errorf("ask the cluster for its API groups: %w", err)
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
