package values

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/redact"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

// settingsOf returns the settings of the sources that the gate of a rendered Darkroom receives: variables with their
// values or Secrets, and the volumes that they name.
func settingsOf(t *testing.T, darkroom *v1alpha1.Darkroom) map[string]string {
	t.Helper()
	objects := render(t, darkroom, Options{})
	out := maps.Clone(manifests.Only[*corev1.ConfigMap](t, objects).Data)
	template := manifests.Only[*appsv1.Deployment](t, objects).Spec.Template.Spec
	gate := template.Containers[1]
	for _, variable := range gate.Env {
		if variable.ValueFrom == nil || variable.ValueFrom.SecretKeyRef == nil {
			continue
		}
		ref := variable.ValueFrom.SecretKeyRef
		out[variable.Name] = ref.Name + " " + ref.Key
		for _, secret := range manifests.All[*corev1.Secret](objects) {
			if secret.Name == ref.Name {
				out[variable.Name] = string(secret.Data[ref.Key])
			}
		}
	}
	for name, value := range out {
		if !strings.HasSuffix(name, "CA_FILE") {
			continue
		}
		for _, mount := range gate.VolumeMounts {
			for _, volume := range template.Volumes {
				if mount.MountPath+"/ca.crt" == value && mount.Name == volume.Name {
					volume.Name = ""
					out[name] = volume.String()
				}
			}
		}
	}
	return out
}

// Each case contains a source. The gate receives the same settings if it is an additional source.
func TestAnAdditionalSourceIsReadAsTheSourceWouldBe(t *testing.T) {
	for name, darkroom := range everything(t) {
		darkroom.Spec.Gate = &v1alpha1.Gate{}
		darkroom.Spec.AdditionalSources = nil
		first := settingsOf(t, darkroom)
		darkroom.Spec.AdditionalSources = []v1alpha1.AdditionalSource{
			{Name: "other", Path: "/other", Source: darkroom.Spec.Source},
		}
		darkroom.Spec.Source = v1alpha1.Source{BaseURL: "https://example.com"}
		second := settingsOf(t, darkroom)
		for variable, want := range first {
			additional := strings.Replace(variable, "SOURCE_", "SOURCE_1_", 1)
			if variable == "GATE_WORKLOAD_IDENTITY" {
				additional = "GATE_SOURCE_1_WORKLOAD_IDENTITY"
			}
			if strings.Contains(variable, "HYSTRIX") || strings.HasPrefix(variable, "GATE_MAX_") {
				continue // of all sources
			}
			if got := second[additional]; additional != variable && got != want {
				t.Errorf("%s: %s is %q, want %q", name, additional, got, want)
			}
		}
		if second["GATE_ADDITIONAL_SOURCES"] != "other" || second["GATE_SOURCE_1_PATH"] != "/other" {
			t.Errorf("%s: the gate does not have the source: %v", name, second)
		}
	}
}

// For each field of a source, a function that searches the source must find a value in an additional source, too.
func TestSecretsAndFilesOfAdditionalSourcesAreFound(t *testing.T) {
	const canary = "canary-4711"
	found := 0
	for _, kind := range []v1alpha1.SourceType{
		v1alpha1.WebFolder, v1alpha1.S3,
		v1alpha1.GoogleCloudStorage, v1alpha1.CloudFront,
	} {
		source := v1alpha1.Source{Type: kind}
		eachField(reflect.ValueOf(&source).Elem(), "", func(path string, of reflect.Value) {
			if of.Kind() != reflect.String || path == ".type" {
				return
			}
			was := of.String()
			of.SetString(canary)
			seen := func(spec v1alpha1.DarkroomSpec) map[string]bool {
				darkroom := &v1alpha1.Darkroom{Spec: spec}
				out := map[string]bool{
					"redacted":    !strings.Contains(redact.Message(darkroom, "error: "+canary), canary),
					"credentials": strings.Contains(fmt.Sprint(CredentialsOf(&spec)), canary),
					"files":       strings.Contains(fmt.Sprint(Files(&spec)), canary),
				}
				for source := range spec.Concealed().Sources() { // the last one
					out["concealed"] = source.AccessKey == v1alpha1.Concealed || source.SecretKey == v1alpha1.Concealed
				}
				return out
			}
			first := seen(v1alpha1.DarkroomSpec{Source: *source.DeepCopy()})
			second := seen(v1alpha1.DarkroomSpec{
				AdditionalSources: []v1alpha1.AdditionalSource{{Name: "other", Source: *source.DeepCopy()}},
			})
			expect.Equal(t, fmt.Sprint(kind, path), first, second)
			for _, is := range first {
				if is {
					found++
				}
			}
			of.SetString(was)
		})
	}
	if found == 0 {
		t.Error("nothing is found in any source")
	}
}
