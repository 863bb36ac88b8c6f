package values

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/definition"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/references"
)

// TestEachImageThatIsAcceptedCanBePulled generates images for the fields of a Darkroom and the settings of the operator.
// If the definition and the options accept an image, it must be rendered and kubelets must accept it.
func TestEachImageThatIsAcceptedCanBePulled(t *testing.T) {
	rules, err := definition.New()
	expect.NoError(t, err)
	chart, err := darkroomChart()
	expect.NoError(t, err)
	accepted := map[string]int{}
	property.Check(t, func(t *rapid.T) {
		// set sets a field to a generated text, if the result is valid.
		set := func(field string, at *string, texts *rapid.Generator[string], validate func() error) {
			if *at = texts.Draw(t, field); validate() != nil {
				*at = ""
			} else if *at != "" {
				accepted[field]++
			}
		}
		options := lenient
		start := func() error {
			_, err := New(options)
			return err
		}
		set("image", &options.Image, references.All(), start)
		set("image of the gate", &options.GateImage, references.All(), start)
		darkroom := photos().Repository("").Spec(func(spec *v1alpha1.DarkroomSpec) { spec.Gate = &v1alpha1.Gate{} }).Obj()
		check := func() error { return rules.Check(t.Context(), darkroom.DeepCopy()) }
		set("repository", &darkroom.Spec.Image.Repository, references.Repositories(), check)
		set("version", &darkroom.Spec.Version, references.Tags(), check)
		translator, err := New(options)
		if err != nil {
			t.Fatal(err)
		}
		values, err := translator.Values(darkroom)
		if err != nil {
			t.Fatal(err)
		}
		rendered, err := tryRender(chart, darkroom, values)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := manifests.DecodeStrictly(rendered)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			if deployment, is := object.(*appsv1.Deployment); is {
				pod := deployment.Spec.Template.Spec
				for _, container := range append(pod.InitContainers, pod.Containers...) {
					if err := references.Check(container.Image); err != nil {
						t.Errorf("container %s: %v", container.Name, err)
					}
				}
			}
		}
	})
	for _, field := range []string{"image", "image of the gate", "repository", "version"} {
		if accepted[field] == 0 {
			t.Errorf("each %s is refused: %v", field, accepted)
		}
	}
}
