//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

// kubectl runs kubectl in a namespace and returns what it says.
func kubectl(t *testing.T, namespace string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "kubectl", append([]string{"--namespace", namespace}, args...)...).Output()
	if err != nil {
		t.Fatalf("kubectl %s: %v", strings.Join(args, " "), withStderr(err))
	}
	return string(out)
}

// templateNames returns the sorted names of the objects that the operator's
// preview shows for a Darkroom.
func templateNames(ctx context.Context, darkroom *v1alpha1.Darkroom) ([]string, error) {
	wanted := darkroom.DeepCopy()
	wanted.SetGroupVersionKind(v1alpha1.GroupVersionKind)
	raw, err := yaml.Marshal(wanted)
	if err != nil {
		return nil, fmt.Errorf("encode Darkroom %s: %w", darkroom.Name, err)
	}
	preview := exec.CommandContext(ctx, filepath.Join(binaries, "darkroom-operator"), "template",
		"-f", "-", "--base-domain", baseDomain)
	preview.Stdin = bytes.NewReader(raw)
	out, err := preview.Output()
	if err != nil {
		return nil, fmt.Errorf("preview of Darkroom %s: %w", darkroom.Name, withStderr(err))
	}
	objects, err := manifests.Decode(out)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(objects))
	for _, object := range objects {
		names = append(names, object.GetKind()+" "+object.GetName())
	}
	slices.Sort(names)
	return names, nil
}

func TestKubectlWaitsShowsAndScales(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	create(t, newDarkroom(namespace, "shown").Obj())

	kubectl(t, namespace, "wait", "--for=condition=Ready", "dr/shown", "--timeout="+waitTimeout.String())
	for _, columns := range []struct {
		args         []string
		header, line []string
	}{
		{
			[]string{"get", "dr"},
			[]string{"NAME", "VERSION", "TYPE", "STATUS", "REASON", "READY", "URL", "AGE"},
			[]string{"shown", "v0.4.2", "WebFolder", "Ready", "AllReplicasReady", "1/1", "http://shown." + namespace + "." + baseDomain},
		},
		{
			[]string{"get", "darkrooms", "-o", "wide"},
			[]string{"NAME", "VERSION", "TYPE", "STATUS", "REASON", "READY", "URL", "DOMAINS", "AGE"},
			[]string{"shown", "v0.4.2", "WebFolder", "Ready", "AllReplicasReady", "1/1", "http://shown." + namespace + "." + baseDomain, `["shown.` + namespace + `.` + baseDomain + `"]`},
		},
	} {
		out := kubectl(t, namespace, columns.args...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if len(lines) != 2 || !slices.Equal(strings.Fields(lines[0]), columns.header) {
			t.Errorf("kubectl %s shows\n%swant the columns %q", strings.Join(columns.args, " "), out, columns.header)
			continue
		}
		if fields := strings.Fields(lines[1]); len(fields) <= len(columns.line) || !slices.Equal(fields[:len(columns.line)], columns.line) {
			t.Errorf("kubectl %s shows\n%swant a line that begins with %q", strings.Join(columns.args, " "), out, columns.line)
		}
	}
	mustMention(t, kubectl(t, namespace, "get", "all"), "darkroom.deployments.example.com/shown", "deployment.apps/shown")

	kubectl(t, namespace, "scale", "dr/shown", "--replicas=3")
	kubectl(t, namespace, "wait", "--for=jsonpath={.status.readyReplicas}=3", "dr/shown", "--timeout="+waitTimeout.String())
	kubectl(t, namespace, "wait", "--for=jsonpath={.spec.replicas}=3", "deployment/shown", "--timeout="+waitTimeout.String())
	kubectl(t, namespace, "delete", "dr/shown", "--timeout="+waitTimeout.String())
}
