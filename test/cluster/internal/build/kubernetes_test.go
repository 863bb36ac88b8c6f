package build

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheModuleOfAnotherKubernetes(t *testing.T) {
	source := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module k8s.io/kubernetes\n\ngo 1.22.0\n\nrequire k8s.io/api v0.0.0\n\n" +
			"replace (\n\tk8s.io/api => ./staging/src/k8s.io/api\n\tk8s.io/apimachinery => ./staging/src/k8s.io/apimachinery\n\texample.com/fork => example.com/other v1.0.0\n)\n",
		"go.sum": "example.com/fork v1.0.0 h1:x\n",
	} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := &Builder{BinDir: t.TempDir(), Kubernetes: "v1.30.14", goVersion: "go1.26.8"}
	folder, err := b.writeModule(source, "v1.30.14")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"go.mod": "module kubernetes\n\ngo 1.26.8\n\nrequire k8s.io/kubernetes v1.30.14\n\n" +
			"replace k8s.io/api => k8s.io/api v0.30.14\n\nreplace k8s.io/apimachinery => k8s.io/apimachinery v0.30.14\n",
		"go.sum": "example.com/fork v1.0.0 h1:x\n",
	} {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
}

func TestOnlyComponentsOfKubernetesAreOfAnotherVersion(t *testing.T) {
	b := &Builder{ProgramsDir: programs, BinDir: t.TempDir(), Kubernetes: "v1.30.14"}
	for _, c := range components {
		version, _, _, err := b.check(c)
		if err != nil {
			t.Fatal(err)
		}
		if other := version == "v1.30.14"; other != (c.Requires == kubernetesModule) {
			t.Errorf("%s: version %s", c.Name, version)
		}
	}
}
