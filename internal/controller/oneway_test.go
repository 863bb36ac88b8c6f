package controller_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/credentials"
	"github.com/darkroom-operator/darkroom-operator/internal/plan"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

func withValues(options values.Options) operatorOption {
	return func(s *settings) { s.Values = options }
}

// chartEdits produce different versions of the chart: each replaces a text in a template. The first one is the
// unchanged version.
var chartEdits = [][2]string{
	{},
	{"revisionHistoryLimit: 3", "revisionHistoryLimit: 4"},                               // replaces no pods
	{"enableServiceLinks: false", "enableServiceLinks: false\n      dnsPolicy: Default"}, // adds a field
	{"enableServiceLinks: false", ""},                                                    // removes a field
	{".Values.terminationGracePeriodSeconds | int64", "61"},                              // changes a field of the pods
}

// editedChart returns an edited version of the chart.
func editedChart(t testing.TB, edit [2]string) *chart.Chart {
	t.Helper()
	edited, err := charts.Darkroom()
	if err != nil {
		t.Fatal(err)
	}
	found := edit[0] == ""
	for _, template := range edited.Templates {
		if template.Name == "templates/deployment.yaml" && !found {
			found = bytes.Contains(template.Data, []byte(edit[0]))
			template.Data = bytes.ReplaceAll(template.Data, []byte(edit[0]), []byte(edit[1]))
		}
	}
	if !found {
		t.Fatalf("the Deployment of the chart lacks %q", edit[0])
	}
	return edited
}

func withChart(edited *chart.Chart) operatorOption {
	return func(s *settings) { s.Chart = edited }
}

// versionsOf returns the resource versions of the objects of a Darkroom, except for Helm's Secrets.
func versionsOf(t *testing.T, darkroom client.Object) map[string]string {
	t.Helper()
	found, err := belongings(t.Context(), darkroom)
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, object := range found {
		if object.GetLabels()["owner"] != "helm" {
			versions[nameOf(object)] = object.GetResourceVersion()
		}
	}
	return versions
}

// TestEveryRestartAppliesTheNewTranslationOrNothing restarts the operator of random Darkrooms with random settings and
// versions of the chart.
func TestEveryRestartAppliesTheNewTranslationOrNothing(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	namespace := newNamespace(t)
	keys := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "keys"},
		StringData: map[string]string{"accessKey": "key", "secretKey": "secret"},
	}
	create(t, keys)
	// The first settings do not reject any Darkroom.
	running := startOperator(t, namespace,
		withValues(values.Options{BaseDomains: []string{"ex.com"}, AllowedAnnotations: []string{"*"}}))
	fleet := make([]*v1alpha1.Darkroom, 12)
	for i := range fleet {
		fleet[i] = randomDarkroom(random, namespace, fmt.Sprintf("photos-%d", i))
		create(t, fleet[i])
	}
	for _, darkroom := range fleet {
		eventually(t, "the release", installed(namespace, darkroom.Name))
	}
	// The first of these settings reject most Darkrooms.
	all := []values.Options{{BaseDomains: []string{longBaseDomain}, AllowedAnnotations: []string{}}}
	others := 4
	if testing.Short() {
		others = 2
	}
	for range others {
		all = append(all, randomSettings(random))
	}
	eventually(t, "rest", quiet(running))
	var err error
	for _, settings := range all {
		running.kill()
		// Meanwhile, the specs of some Darkrooms are changed, so that their hosts get another base domain. Sometimes
		// the keys change as well.
		change(t, keys, func(secret *corev1.Secret) {
			secret.StringData = map[string]string{"secretKey": fmt.Sprint(random.IntN(3))}
		})
		for _, i := range random.Perm(len(fleet))[:3] {
			change(t, fleet[i], func(darkroom *v1alpha1.Darkroom) { darkroom.Spec.CacheTTLSeconds = ptr.To(random.Int64N(1e6)) })
		}
		before := map[string]map[string]string{}
		for i, darkroom := range fleet {
			before[darkroom.Name] = versionsOf(t, darkroom)
			if fleet[i], err = get(t.Context(), &v1alpha1.Darkroom{}, namespace, darkroom.Name); err != nil {
				t.Fatal(err)
			}
		}
		translator, err := values.New(settings)
		if err != nil {
			t.Fatal(err)
		}
		edit := chartEdits[random.IntN(len(chartEdits))]
		said, was := planOf(t, namespace, editedChart(t, edit), settings), templatesOf(t, namespace)
		unchanged := map[string]map[string]string{}
		for _, darkroom := range fleet {
			if !said[darkroom.Name].Changes() {
				unchanged[darkroom.Name] = before[darkroom.Name]
			}
		}
		running = startOperator(t, namespace, withValues(settings), withChart(editedChart(t, edit)))
		for _, darkroom := range fleet {
			_, err := translator.Values(darkroom)
			if refused := said[darkroom.Name].Refused != ""; refused != (err != nil) {
				t.Errorf("settings %+v: the plan rejects %s: %t (%s), but the translator returns: %v", settings, darkroom.Name, refused,
					said[darkroom.Name].Refused, err)
			}
		}
		for _, darkroom := range fleet {
			if want, err := translator.ValuesIn(darkroom,
				values.ClusterState{CredentialsVersion: versionOfCredentials(t, darkroom)}); err == nil {
				eventually(t, "the new translation of "+darkroom.Name, translated(t, darkroom, want))
				delete(before, darkroom.Name)
			} else {
				eventuallyStatus(t, darkroom, "refused", isNotReady(v1alpha1.ReasonInvalid))
			}
		}
		eventually(t, "rest", quiet(running))
		for _, darkroom := range fleet {
			if was, refused := before[darkroom.Name]; refused && !maps.Equal(was, versionsOf(t, darkroom)) {
				t.Errorf("settings %+v reject %+v, but its objects changed from %v to %v", settings, darkroom.Spec,
					was, versionsOf(t, darkroom))
			}
			if was, promised := unchanged[darkroom.Name]; promised && !maps.Equal(was, versionsOf(t, darkroom)) {
				t.Errorf("settings %+v: the plan reports no change of %+v, but its objects changed from %v to %v", settings,
					darkroom.Spec, was, versionsOf(t, darkroom))
			}
		}
		is := templatesOf(t, namespace)
		for name := range was {
			if rolled := !reflect.DeepEqual(was[name], is[name]); rolled != said[name].Rolls {
				t.Errorf("settings %+v, chart with %q: the pods of %s are replaced: %t, but the plan reports %+v", settings,
					edit, name, rolled, said[name])
			}
		}
	}
}

func TestAPlanNamesWhoRefusesNewObjects(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	create(t, webFolder(namespace, "photos"))
	create(t, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "photos"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	})
	said := planOf(t, namespace, editedChart(t, chartEdits[0]), values.Options{BaseDomains: []string{baseDomain}})["photos"]
	if want := release.ErrForeignObject.Error(); !strings.Contains(said.Refused, want) {
		t.Errorf("with a Service of another client, the plan reports %+v, want the refusal %q", said, want)
	}

	policed := newNamespace(t)
	demandLabel(t, policed, "team")
	darkroom := webFolder(policed, "photos")
	darkroom.Labels = map[string]string{"team": "images"}
	create(t, darkroom)
	said = planOf(t, policed, editedChart(t, chartEdits[0]), values.Options{BaseDomains: []string{baseDomain}})["photos"]
	if want := "the label team is missing"; !strings.Contains(said.Refused, want) {
		t.Errorf("with a policy that denies new objects, the plan reports %+v, want the refusal %q", said, want)
	}
}

// planOf returns the plan for each Darkroom in the namespace of an operator.
func planOf(t *testing.T, namespace string, edited *chart.Chart, settings values.Options) map[string]plan.Darkroom {
	t.Helper()
	served, err := controller.Discover(t.Context(), discoveryClient(t, cluster))
	if err != nil {
		t.Fatal(err)
	}
	options := translating(t, []string{namespace})
	made, err := plan.Planner{
		Client: kube, Chart: edited, Values: settings, Capabilities: served.Capabilities(), Kinds: served.Managed(),
		Installation: controller.DefaultInstallation, Namespaces: options.Namespaces, Selector: labels.Everything(),
	}.Make(t.Context(), namespace, labels.Everything())
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]plan.Darkroom{}
	for _, darkroom := range made.Darkrooms {
		said[darkroom.Name] = darkroom
	}
	return said
}

// versionOfCredentials returns the credentials version that new pods of a Darkroom get.
func versionOfCredentials(t *testing.T, darkroom *v1alpha1.Darkroom) string {
	t.Helper()
	version, err := (&credentials.Versions{Cached: kube, Uncached: kube}).Version(t.Context(), darkroom)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// templatesOf returns the pod templates of all Darkrooms in a namespace.
func templatesOf(t *testing.T, namespace string) map[string]corev1.PodTemplateSpec {
	t.Helper()
	list := &appsv1.DeploymentList{}
	if err := kube.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	templates := map[string]corev1.PodTemplateSpec{}
	for _, deployment := range list.Items {
		templates[deployment.Name] = deployment.Spec.Template
	}
	return templates
}

// translated returns an error unless the deployed release of a Darkroom has the wanted values.
func translated(t *testing.T, darkroom *v1alpha1.Darkroom, want any) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := installed(darkroom.Namespace, darkroom.Name)(ctx); err != nil {
			return err
		}
		stored, err := action.NewGet(helmByHand(t, darkroom.Namespace)).Run(darkroom.Name)
		if err != nil {
			return err
		}
		got, gotErr := json.Marshal(stored.Config)
		wanted, wantErr := json.Marshal(want)
		if string(got) != string(wanted) {
			return fmt.Errorf("values are %s, want %s (%w)", got, wanted, errors.Join(gotErr, wantErr))
		}
		return nil
	}
}

func randomDarkroom(random *rand.Rand, namespace, name string) *v1alpha1.Darkroom {
	darkroom := webFolder(namespace, name)
	if random.IntN(2) == 0 {
		darkroom.Spec.Ingress = &v1alpha1.Ingress{Annotations: map[string]string{
			[]string{"nginx.ingress.kubernetes.io/ssl-redirect", "example.com/note"}[random.IntN(2)]: "true",
		}}
	}
	if random.IntN(3) == 0 {
		darkroom.Spec.SubDomains = append(darkroom.Spec.SubDomains,
			name+"."+strings.Repeat("a", 60)+"."+strings.Repeat("b", 60))
	}
	if random.IntN(3) == 0 {
		darkroom.Spec.Source = v1alpha1.Source{
			Type: v1alpha1.S3, Bucket: "photos", Region: "eu-west-2",
			CredentialsSecretRef: &v1alpha1.CredentialsSecretRef{Name: "keys"},
		}
	}
	darkroom.Spec.LogLevel = []v1alpha1.LogLevel{"info", "warn", "error"}[random.IntN(3)]
	if random.IntN(2) == 0 {
		darkroom.Labels = map[string]string{"team": "shop"}
	}
	return darkroom
}

// longBaseDomain is a base domain for which a sub-domain of 120 characters is too long.
var longBaseDomain = strings.Repeat(strings.Repeat("c", 60)+".", 3) + "example.com"

func randomSettings(random *rand.Rand) values.Options {
	return values.Options{
		BaseDomains:        []string{[]string{"ex.com", baseDomain, longBaseDomain}[random.IntN(3)]},
		AllowedAnnotations: [][]string{nil, {}, {"*"}, {"example.com/*"}}[random.IntN(4)],
		ImagePullSecrets:   [][]string{nil, {"registry"}, {"registry", "registry"}}[random.IntN(3)],
		IngressClassName:   []string{"", "nginx"}[random.IntN(2)],
		Image: []string{
			"", "registry.example.com/darkroom:v0.4.1",
			"registry.example.com/darkroom:v0.4.2",
		}[random.IntN(3)],
		InheritLabels: [][]string{nil, {"team"}}[random.IntN(2)],
	}
}

// TestAForgedRevisionIsNeverApplied stores a revision with another manifest, as any user with the permission to create
// Secrets can.
func TestAForgedRevisionIsNeverApplied(t *testing.T) {
	t.Parallel()
	operator, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	helm := helmByHand(t, namespace)
	forged, err := helm.Releases.Last("photos")
	if err != nil {
		t.Fatal(err)
	}
	forged.Version = 2
	forged.Manifest += "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: forged}\n"
	if err := helm.Releases.Create(forged); err != nil {
		t.Fatal(err)
	}
	change(t, mustGet(t, &corev1.Secret{}, namespace, "sh.helm.release.v1.photos.v2"), func(s *corev1.Secret) {
		s.Labels[v1alpha1.LabelDarkroom], s.Labels[v1alpha1.LabelDarkroomUID] = "photos", string(darkroom.UID)
	})
	// Repairs must not use the forged revision either.
	change(t, mustConfig(t, namespace, "photos"), func(c *corev1.ConfigMap) { c.Data["LOG_LEVEL"] = "debug" })
	eventually(t, "the translated log level",
		func(ctx context.Context) error { return logLevelIs("info")(ctx, namespace) })
	eventually(t, "rest", quiet(operator))
	if _, err := get(t.Context(), &corev1.ConfigMap{}, namespace, "forged"); err == nil {
		t.Error("an object of the forged revision was created")
	}
}
