package controller

import (
	"context"
	"time"

	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
)

// measured returns action clients that count their operations.
type measured struct {
	helmclient.ActionClientGetter
	metrics *metrics.Metrics
}

// ActionClientFor implements helmclient.ActionClientGetter.
func (m measured) ActionClientFor(ctx context.Context, darkroom client.Object) (helmclient.ActionInterface, error) {
	inner, err := m.ActionClientGetter.ActionClientFor(ctx, darkroom)
	return measuredClient{inner, m.metrics}, err
}

type measuredClient struct {
	helmclient.ActionInterface
	metrics *metrics.Metrics
}

// Install implements helmclient.ActionInterface.
func (m measuredClient) Install(name, namespace string, chrt *chart.Chart, values map[string]any, opts ...helmclient.InstallOption) (*helmrelease.Release, error) {
	began := time.Now()
	installed, err := m.ActionInterface.Install(name, namespace, chrt, values, opts...)
	m.metrics.Operated(metrics.Install, began, err)
	return installed, err
}

// Upgrade implements helmclient.ActionInterface. A dry run is not counted.
func (m measuredClient) Upgrade(name, namespace string, chrt *chart.Chart, values map[string]any, opts ...helmclient.UpgradeOption) (*helmrelease.Release, error) {
	began := time.Now()
	upgraded, err := m.ActionInterface.Upgrade(name, namespace, chrt, values, opts...)
	if !isDryRun(opts) {
		m.metrics.Operated(metrics.Upgrade, began, err)
	}
	return upgraded, err
}

func isDryRun(opts []helmclient.UpgradeOption) bool {
	var upgrade action.Upgrade
	for _, apply := range opts {
		if err := apply(&upgrade); err != nil {
			return false
		}
	}
	return upgrade.DryRun
}

// Uninstall implements helmclient.ActionInterface.
func (m measuredClient) Uninstall(name string, opts ...helmclient.UninstallOption) (*helmrelease.UninstallReleaseResponse, error) {
	began := time.Now()
	answer, err := m.ActionInterface.Uninstall(name, opts...)
	m.metrics.Operated(metrics.Uninstall, began, err)
	return answer, err
}

// Reconcile implements helmclient.ActionInterface. Only failures are counted here. A repair
// is counted when its event is recorded.
func (m measuredClient) Reconcile(deployed *helmrelease.Release) error {
	err := m.ActionInterface.Reconcile(deployed)
	if err != nil {
		m.metrics.RepairFailed()
	}
	return err
}

// countedEvents counts the operations that are only visible as events.
type countedEvents struct {
	*recorder
	metrics *metrics.Metrics
}

// Event implements release.Recorder.
func (c countedEvents) Event(darkroom client.Object, warning bool, reason, message string) {
	switch reason {
	case release.EventRepaired:
		c.metrics.Repaired()
	case release.EventRecovered:
		c.metrics.Recovered()
	}
	c.recorder.Event(darkroom, warning, reason, message)
}
