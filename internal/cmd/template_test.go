package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

// template runs the command with an empty environment.
func template(t *testing.T, stdin string, args ...string) (string, error) {
	t.Helper()
	for _, name := range []string{
		"DARKROOM_BASE_DOMAIN", "DARKROOM_INGRESS_CLASS",
		"DARKROOM_INGRESS_ANNOTATIONS", envImage,
	} {
		t.Setenv(name, "")
	}
	root := newRoot()
	var out, errOut bytes.Buffer
	root.SetArgs(append([]string{"template"}, args...))
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetErr(&errOut)
	err := root.Execute()
	if errOut.Len() > 0 {
		t.Errorf("Main prints the error; the command printed: %s", errOut.String())
	}
	return out.String(), err
}

// printed returns the output of the command, which must succeed.
func printed(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	out, err := template(t, stdin, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// refused returns the error of the command, which must fail.
func refused(t *testing.T, stdin string, args ...string) error {
	t.Helper()
	out, err := template(t, stdin, args...)
	if err == nil {
		t.Fatalf("accepted:\n%s", out)
	}
	return err
}

// document returns a Darkroom as YAML.
func document(t *testing.T, darkroom *darkrooms.Builder) string {
	t.Helper()
	raw, err := yaml.Marshal(darkroom.Generation(0).Obj())
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// installed lists the Deployments among manifests as namespace/name.
func installed(t *testing.T, printed string) []string {
	t.Helper()
	objects, err := manifests.Decode([]byte(printed))
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	var found []string
	for _, object := range objects {
		if object.GetKind() == "Deployment" {
			found = append(found, object.GetNamespace()+"/"+object.GetName())
		}
	}
	slices.Sort(found)
	return found
}

// helmTemplate runs `helm template NAME helm-charts/darkroom -f -`. The values are passed as YAML, which has one type
// of numbers, and the chart is read from its folder.
func helmTemplate(t *testing.T, name, values string) string {
	t.Helper()
	chart, err := loader.Load(filepath.Join("..", "..", "helm-charts", "darkroom"))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		t.Fatal(err)
	}
	install := action.NewInstall(&action.Configuration{Log: func(string, ...any) {}})
	install.ClientOnly, install.DryRun = true, true
	install.ReleaseName, install.Namespace = name, "default"
	install.KubeVersion, err = chartutil.ParseKubeVersion(kubeVersion)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := install.Run(chart, parsed)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(rendered.Manifest)
}

func TestHelmMakesTheSameOfTheValues(t *testing.T) {
	documents := map[string]string{
		"every number": document(t, darkrooms.New("photos", "").
			Autoscaling(2, 1000).
			Request("memory", "3Gi").Limit("cpu", "50m").
			DefaultParam("w", "1000000").
			Env("BIG", "10000000").
			Spec(func(spec *v1alpha1.DarkroomSpec) {
				spec.CacheTTLSeconds, spec.Autoscaling.TargetCPUUtilizationPercentage = ptr.To[int64](2147483647), ptr.To[int32](60)
			})),
		"a limit that drops the default request": document(t,
			darkrooms.New("photos", "").Limit("memory", "64Mi").Replicas(3)),
		"an HTTPRoute": document(t, darkrooms.New("photos", "").Gateway("public")),
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "config", "samples", "darkroom-*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		documents[filepath.Base(file)] = string(raw)
	}
	for name, document := range documents {
		t.Run(name, func(t *testing.T) {
			direct := strings.TrimSpace(printed(t, document, "-f", "-"))
			darkroom := &v1alpha1.Darkroom{}
			if err := yaml.Unmarshal([]byte(document), darkroom); err != nil {
				t.Fatal(err)
			}
			byHelm := helmTemplate(t, darkroom.Name, printed(t, document, "-f", "-", "--values"))
			if diff := cmp.Diff(direct, byHelm); diff != "" {
				t.Errorf("(-template +template --values | helm template):\n%s", diff)
			}
		})
	}
}

func TestDarkroomsAreReadFromFilesAndStandardInput(t *testing.T) {
	one := document(t, darkrooms.New("one", "team-a"))
	two := document(t, darkrooms.New("two", ""))
	const other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {anything: goes}\n"
	indented := "- " + strings.ReplaceAll(strings.TrimSpace(one), "\n", "\n  ")
	file := filepath.Join(t.TempDir(), "one.yaml")
	if err := os.WriteFile(file, []byte(one), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		stdin string
		args  []string
		want  []string
	}{
		"a file and standard input":   {two, []string{"-f", file, "-f", "-"}, []string{"default/two", "team-a/one"}},
		"several documents":           {one + "---\n" + two, []string{"-f", "-"}, []string{"default/two", "team-a/one"}},
		"other kinds are passed over": {other + "---\n" + one + "---\n" + other, []string{"-f", "-"}, []string{"team-a/one"}},
		"a List": {
			"apiVersion: v1\nkind: List\nitems:\n" + indented + "\n",
			[]string{"-f", "-"},
			[]string{"team-a/one"},
		},
		"the status, as kubectl get prints it": {
			one + "status:\n  phase: Ready\n  fieldOfANewerRelease: true\n", []string{"-f", "-"}, []string{"team-a/one"},
		},
		"a namespace for those that name none": {
			one + "---\n" + two,
			[]string{"-f", "-", "-n", "gallery"},
			[]string{"gallery/two", "team-a/one"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, installed(t, printed(t, test.stdin, test.args...))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnreadableInputIsNamed(t *testing.T) {
	good := document(t, darkrooms.New("good", ""))
	absent := filepath.Join(t.TempDir(), "absent.yaml")
	for name, test := range map[string]struct {
		stdin string
		args  []string
		want  []string
	}{
		"no file given":            {"", nil, []string{"no file given", "-f FILE"}},
		"an argument in its place": {"", []string{"darkroom.yaml"}, []string{"use -f darkroom.yaml"}},
		"a file that is not there": {"", []string{"-f", absent}, []string{absent}},
		"no Darkroom": {
			"kind: ConfigMap\napiVersion: v1\n",
			[]string{"-f", "-"},
			[]string{"no Darkroom (deployments.example.com/v1alpha1) in -"},
		},
		"an unknown field": {
			good + "---\n" + strings.Replace(good, "baseUrl:", "url:", 1),
			[]string{"-f", "-"},
			[]string{`-: document 2: invalid Darkroom "good"`, "unknown field", `url"`},
		},
		"a field of another type": {
			strings.Replace(good, "spec:", "spec:\n  replicas: three", 1),
			[]string{"-f", "-"},
			[]string{"spec.replicas: must be an integer"},
		},
		"one value for a list": {
			strings.Replace(good, "spec:", "spec:\n  extraEnv: three", 1),
			[]string{"-f", "-"},
			[]string{"spec.extraEnv: must be a list"},
		},
		"a field given twice": {
			good + "  replicas: 1\n  replicas: 2\n",
			[]string{"-f", "-"},
			[]string{"-: document 1:", "replicas"},
		},
		"no YAML": {good + "---\n\t{", []string{"-f", "-"}, []string{"-: document 2:"}},
		"a text":  {"a text\n", []string{"-f", "-"}, []string{"-: document 1:"}},
		"nothing": {
			"",
			[]string{"-f", "-"},
			[]string{"no Darkroom (deployments.example.com/v1alpha1) in -"},
		},
		"a field in other letters": {
			strings.Replace(good, "baseUrl:", "baseURL:", 1),
			[]string{"-f", "-"},
			[]string{`baseURL"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			wantAll(t, test.want, refused(t, test.stdin, test.args...).Error())
		})
	}
}

func TestABadResourceIsRefusedAndHidesNoOther(t *testing.T) {
	documents := strings.Join([]string{
		document(t, darkrooms.New("first", "").SubDomains("Not A Name")),
		document(t, darkrooms.New("good", "")),
		document(t, darkrooms.New("last", "").WebFolder("example.com").SubDomains("Not A Name")),
	}, "---\n")
	out, err := template(t, documents, "-f", "-")
	if err == nil {
		t.Fatalf("accepted:\n%s", out)
	}
	wantAll(t, []string{
		`"first" is invalid: spec.subDomains[0]: `, `"last" is invalid: `, "spec.source.baseUrl: ",
		"spec.subDomains[0]: ",
	}, err.Error())
	if diff := cmp.Diff([]string{"default/good"}, installed(t, out)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFlagsOfTheOperator(t *testing.T) {
	photos := document(t, darkrooms.New("photos", ""))
	out := printed(t, photos, "-f", "-", "--values", "--base-domain", "img.example.net", "--ingress-class", "traefik",
		"--image", "mirror.example.com/darkroom:v9")
	wantAll(t, []string{
		"photos.img.example.net", "className: traefik",
		"repository: mirror.example.com/darkroom", "tag: v9",
	}, out)
	wantAll(t, []string{`base domain "https://example.net"`},
		refused(t, photos, "-f", "-", "--base-domain", "https://example.net").Error())
	gated := document(t, darkrooms.New("photos", "").Spec(func(s *v1alpha1.DarkroomSpec) { s.Gate = &v1alpha1.Gate{} }))
	wantAll(t, []string{"repository: mirror.example.com/gate", "tag: v2"},
		printed(t, gated, "-f", "-", "--values", "--gate-image", "mirror.example.com/gate:v2"))
	issued := document(t, darkrooms.New("photos", "").
		Ingress(v1alpha1.Ingress{Annotations: map[string]string{"cert-manager.io/issuer": "x"}}))
	wantAll(t, []string{"cert-manager.io/issuer: x"}, printed(t, issued, "-f", "-"))
	wantAll(t, []string{"spec.ingress.annotations[cert-manager.io/issuer]"},
		refused(t, issued, "-f", "-", "--ingress-annotations=example.com/*").Error())
}

func wantAll(t *testing.T, want []string, in string) {
	t.Helper()
	for _, want := range want {
		if !strings.Contains(in, want) {
			t.Errorf("want %q in:\n%s", want, in)
		}
	}
}

// The output is meant for kubectl apply.
func TestManifestsOfSeveralDarkroomsAreOneStream(t *testing.T) {
	one, two := document(t, darkrooms.New("one", "")), document(t, darkrooms.New("two", ""))
	want := printed(t, one, "-f", "-") + printed(t, two, "-f", "-")
	if diff := cmp.Diff(want, printed(t, one+"---\n"+two, "-f", "-")); diff != "" {
		t.Errorf("(-one by one +together):\n%s", diff)
	}
	if !strings.HasPrefix(want, "---\n") {
		t.Errorf("the second would begin within the last document of the first:\n%s", want)
	}
}

// A preview would be useless if it accepted Darkrooms that the manager rejects.
func TestEveryCommandThatTranslatesHasTheSameFlags(t *testing.T) {
	wanted := pflag.NewFlagSet("", pflag.ContinueOnError)
	(&translation{}).addFlags(wanted)
	nameEnvironment(wanted)
	for _, command := range newRoot().Commands() {
		if slices.Contains([]string{"sign", "status", "explain", "report"}, command.Name()) {
			continue // these commands translate nothing
		}
		wanted.VisitAll(func(flag *pflag.Flag) {
			if got := command.Flags().Lookup(flag.Name); got == nil || got.Usage != flag.Usage || got.DefValue != flag.DefValue {
				t.Errorf("%s has --%s as %+v", command.Name(), flag.Name, got)
			}
		})
	}
}
