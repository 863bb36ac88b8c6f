package controller_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/documents"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// as sets the name of an operator's installation, and other settings that make its results distinguishable.
func as(installation, domain string) operatorOption {
	return func(o *settings) {
		o.Installation = installation
		o.Values = values.Options{BaseDomains: []string{domain}}
	}
}

// Without claims, two installations with different settings would upgrade each Darkroom back and forth.
func TestEachDarkroomHasOneInstallation(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	first := startOperator(t, namespace, as("first", "first.example.com"))
	darkroom := webFolder(namespace, "photos")
	install(t, darkroom)
	eventually(t, "rest", quiet(first))

	second := startOperator(t, namespace, as("second", "second.example.com"))
	upgrade(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	eventually(t, "rest", quiet(first))
	eventually(t, "rest", quiet(second))
	if writes := second.writes(); writes > 0 {
		t.Errorf("the second installation made %d writes, want none", writes)
	}

	t.Run("and can be moved to another", func(t *testing.T) {
		deployment := mustGet(t, &appsv1.Deployment{}, namespace, "photos")
		change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Annotations[v1alpha1.AnnotationInstallation] = "second" })
		eventuallyStatus(t, darkroom, "the host of the second installation", hasDomains("photos.second.example.com"))
		eventually(t, "rest", quiet(first))
		eventually(t, "rest", quiet(second))
		now := mustGet(t, &appsv1.Deployment{}, namespace, "photos")
		if now.UID != deployment.UID || now.Generation != deployment.Generation {
			t.Errorf("the Deployment changed from %+v to %+v, want the same pods", deployment.Spec, now.Spec)
		}
	})
	// `kubectl replace` and Argo CD with Replace=true remove the claim like this.
	t.Run("which keeps it if the claim is lost", func(t *testing.T) {
		for range 12 {
			change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Annotations = nil })
			eventuallyIs(t, "the claim", &v1alpha1.Darkroom{}, namespace, "photos", func(d *v1alpha1.Darkroom) bool {
				return d.Annotations[v1alpha1.AnnotationInstallation] != ""
			})
			now := mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos")
			if now.Annotations[v1alpha1.AnnotationInstallation] != "second" {
				t.Fatalf("the Darkroom was claimed by %q", now.Annotations[v1alpha1.AnnotationInstallation])
			}
		}
	})
	t.Run("which deletes it", func(t *testing.T) {
		remove(t, darkroom)
		eventually(t, "it is gone", gone(darkroom))
	})
}

// TestTheDocumentedCommandMovesAllDarkroomsOfAnInstallation runs the command in docs/operations.md.
func TestTheDocumentedCommandMovesAllDarkroomsOfAnInstallation(t *testing.T) {
	t.Parallel()
	blocks, err := documents.Blocks(filepath.Join("..", "..", "docs", "operations.md"), "sh")
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(blocks, func(block string) bool {
		return strings.HasPrefix(block, "OLD=operators NEW=darkroom-system\n")
	})
	if at < 0 {
		t.Fatal("docs/operations.md has no command that moves the Darkrooms of an installation")
	}
	one, another := newNamespace(t), newNamespace(t)
	lost, moved, other := one+"-lost", one+"-new", one+"-other"
	darkrooms := map[client.ObjectKey]struct{ annotation, status, after string }{
		{Namespace: one, Name: "photos"}: {lost, lost, moved}, {Namespace: one, Name: "unclaimed"}: {},
		{Namespace: one, Name: "replaced"}: {"", lost, moved}, {Namespace: another, Name: "left"}: {other, lost, other},
		{Namespace: another, Name: "cats"}: {lost, "", moved}, {Namespace: another, Name: "dogs"}: {other, other, other},
	}
	for key, installation := range darkrooms {
		darkroom := webFolder(key.Namespace, key.Name)
		if installation.annotation != "" {
			darkroom.Annotations = map[string]string{v1alpha1.AnnotationInstallation: installation.annotation}
		}
		create(t, darkroom)
		darkroom.Status.Installation = installation.status
		if err := kube.Status().Update(t.Context(), darkroom); err != nil {
			t.Fatal(err)
		}
	}

	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := access.WriteKubeconfig(cluster, "", kubeconfig); err != nil {
		t.Fatal(err)
	}
	command := strings.NewReplacer("OLD=operators", "OLD="+lost, "NEW=darkroom-system", "NEW="+moved).Replace(blocks[at])
	shell := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", command)
	shell.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig,
		"PATH="+os.Getenv("KUBEBUILDER_ASSETS")+":"+os.Getenv("PATH"))
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for key, want := range darkrooms {
		got := mustGet(t, &v1alpha1.Darkroom{}, key.Namespace, key.Name).Annotations[v1alpha1.AnnotationInstallation]
		if got != want.after {
			t.Errorf("%s is claimed by %q, want %q", key, got, want.after)
		}
	}
}
