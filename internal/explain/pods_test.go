package explain

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/release/render"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// TestTheSourceOfPodsIsThatOfTheirSpec checks that the chart writes the variables that are read here.
func TestTheSourceOfPodsIsThatOfTheirSpec(t *testing.T) {
	chrt, err := charts.Darkroom()
	expect.NoError(t, err)
	translator, err := values.New(values.Options{GateImage: "gate:v1"})
	expect.NoError(t, err)
	for name, darkroom := range map[string]*darkrooms.Builder{
		"a web folder":         darkrooms.New("photos", "team-a").WebFolder("https://example.com/images/"),
		"an S3 service":        darkrooms.New("photos", "team-a").S3("b", "eu-west-1").Spec(withMinIO).PathPrefix("/a"),
		"Google Cloud Storage": darkrooms.New("photos", "team-a").GoogleCloudStorage("b"),
		"CloudFront":           darkrooms.New("photos", "team-a").CloudFront("d.cloudfront.net").PathPrefix("/a"),
		"a gate":               darkrooms.New("photos", "team-a").Spec(withGate),
		"additional sources":   darkrooms.New("photos", "team-a").Spec(withSources),
	} {
		t.Run(name, func(t *testing.T) {
			spec := darkroom.Obj()
			vals, err := translator.Values(spec)
			expect.NoError(t, err)
			rendered, err := render.Render(chrt, client.ObjectKeyFromObject(spec), vals, render.Capabilities{Version: "v1.36.0"})
			expect.NoError(t, err)
			objects, err := manifests.DecodeStrictly(rendered.Manifest)
			expect.NoError(t, err)
			config := manifests.Only[*corev1.ConfigMap](t, objects)
			// The Darkroom has another source, because asServed returns it unchanged if it cannot read the variables.
			e := &Evidence{Variables: Read[map[string]string]{Found, config.Data}}
			got := e.asServed(darkrooms.New("photos", "team-a").WebFolder("https://new").Spec(withSources).Obj()).Spec
			expect.Equal(t, "source", location(&spec.Spec.Source), location(&got.Source))
			if (got.Gate != nil) != (spec.Spec.Gate != nil) || len(got.AdditionalSources) != len(spec.Spec.AdditionalSources) {
				t.Fatalf("the pods have %+v, want %+v", got, spec.Spec)
			}
			for i, want := range spec.Spec.AdditionalSources {
				is := got.AdditionalSources[i]
				expect.Equal(t, "location", location(&want.Source), location(&is.Source))
				want.Source, is.Source = v1alpha1.Source{}, v1alpha1.Source{}
				expect.Equal(t, "additional source", want, is)
			}
		})
	}
}

func withMinIO(spec *v1alpha1.DarkroomSpec) {
	spec.Source.Endpoint, spec.Source.AccessKey, spec.Source.SecretKey = "https://minio.example.com", "key", "secret"
}
