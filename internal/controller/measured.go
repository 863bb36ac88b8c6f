package controller

import (
	"time"

	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	"helm.sh/helm/v3/pkg/chart"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
)

// measuredClient counts the operations of an action client.
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
	if !release.IsDryRun(opts) {
		m.metrics.Operated(metrics.Upgrade, began, err)
	}
	return upgraded, err
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
