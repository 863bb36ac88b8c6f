package build

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// setupEnvtest writes a stand-in for setup-envtest that records its arguments, and returns
// it with the file of the record.
func setupEnvtest(t *testing.T, script string) (program, record string) {
	t.Helper()
	folder := t.TempDir()
	program, record = filepath.Join(folder, "setup-envtest"), filepath.Join(folder, "arguments")
	script = "#!/bin/sh\necho \"$@\" > " + record + "\nfolder=$4/k8s/1.2.3\nmkdir -p $folder\n" + script
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return program, record
}

// small is a module of a component of the assets, whose program prints "compiled".
func small(t *testing.T) (*Builder, []Component, *strings.Builder) {
	t.Helper()
	programs := t.TempDir()
	for path, text := range map[string]string{
		"go.mod":  "module example.com/tiny\n\ngo 1.26.0\n\nrequire k8s.io/kubernetes v1.2.3\n",
		"go.sum":  "",
		"main.go": "package main\n\nfunc main() { println(\"compiled\") }\n",
	} {
		path = filepath.Join(programs, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := &strings.Builder{}
	builder := &Builder{ProgramsDir: programs, BinDir: filepath.Join(t.TempDir(), "bin"), Out: out}
	return builder, []Component{{
		Name: "kube-apiserver", Requires: kubernetesModule, Package: ".", Binary: "tiny", Groups: []string{GroupAssets},
	}}, out
}

func TestAssetsAreDownloadedWhereThatIsPossible(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	builder, components, out := small(t)
	program, record := setupEnvtest(t, "echo prebuilt > $folder/kube-apiserver; printf %s $folder")
	builder.SetupEnvtest = []string{program}
	if err := builder.Build(t.Context(), components); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(builder.BinDir, "kube-apiserver")); err != nil || string(got) != "prebuilt\n" {
		t.Errorf("the program is %.20q, %v; progress:\n%s", got, err, out)
	}
	arguments, err := os.ReadFile(record)
	if want := "use 1.2.3 --bin-dir " + builder.BinDir + "/.envtest --print path\n"; err != nil || string(arguments) != want {
		t.Errorf("arguments %q, %v, want %q", arguments, err, want)
	}
	if err := os.Remove(record); err != nil {
		t.Fatal(err)
	}
	if err := builder.Build(t.Context(), components); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(record); err == nil {
		t.Error("it was downloaded twice")
	}
}

func TestAssetsThatCannotBeDownloadedAreCompiled(t *testing.T) {
	for name, script := range map[string]string{
		"no network":   "echo 'cannot reach the index' >&2; exit 1",
		"other format": "printf %s $folder",
	} {
		t.Run(name, func(t *testing.T) {
			builder, components, out := small(t)
			program, _ := setupEnvtest(t, script)
			builder.SetupEnvtest = []string{program}
			if err := builder.Build(t.Context(), components); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(filepath.Join(builder.BinDir, "kube-apiserver")); err != nil || info.Size() < 1000 {
				t.Errorf("no program was compiled: %v", err)
			}
			if !strings.Contains(out.String(), "compiling instead: ") {
				t.Errorf("the progress does not say why:\n%s", out)
			}
		})
	}
}
