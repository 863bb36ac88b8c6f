package release

import (
	"errors"
	"testing"

	"helm.sh/helm/v3/pkg/action"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
)

// Whatever the translation returns, the operator must not render a release of another name.
func TestValuesWithoutTheNameOrLabelOfTheDarkroomAreNotRendered(t *testing.T) {
	labels := map[string]any{v1alpha1.LabelDarkroom: "photos"}
	for name, values := range map[string]map[string]any{
		"none": nil, "no label": {"fullnameOverride": "photos"}, "no name": {"commonLabels": labels},
		"another name":  {"fullnameOverride": "cats", "commonLabels": labels},
		"another label": {"fullnameOverride": "photos", "commonLabels": map[string]any{v1alpha1.LabelDarkroom: "cats"}},
	} {
		c := clientWith(nil)
		if err := c.Render(values); err == nil || c.rendering != nil {
			t.Errorf("%s: rendered %+v (%v)", name, c.rendering, err)
		}
	}
}

// Without a rendering there are no desired objects, so every object of the Darkroom would be pruned.
func TestNothingIsWrittenWithoutARendering(t *testing.T) {
	c := clientWith(cached{services: {metadata("photos", nil)}})
	c.Metrics = metrics.New(nil, "", "")
	for name, write := range map[string]func() error{
		"Install":      func() error { _, err := c.Install("", "", nil, nil); return err },
		"Upgrade":      func() error { _, err := c.Upgrade("", "", nil, nil); return err },
		"Upgrade, dry": func() error { _, err := c.Upgrade("", "", nil, nil, asDryRun); return err },
		"Reconcile":    func() error { return c.Reconcile(nil) },
	} {
		if err := write(); !errors.Is(err, errNotRendered) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func asDryRun(upgrade *action.Upgrade) error {
	upgrade.DryRun = true
	return nil
}
