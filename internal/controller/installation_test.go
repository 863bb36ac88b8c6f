package controller_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/documents"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// as gives an operator the name of an installation, and settings that distinguish its work
// from another's.
func as(installation, domain string) operatorOption {
	return func(o *settings) {
		o.Installation = installation
		o.Values = values.Options{BaseDomains: []string{domain}}
	}
}

// Two installations with different settings would upgrade each Darkroom back and forth.
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
		t.Errorf("the second installation made %d writes", writes)
	}

	t.Run("and can be moved to another", func(t *testing.T) {
		deployment := mustGet(t, &appsv1.Deployment{}, namespace, "photos")
		change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Annotations[v1alpha1.AnnotationInstallation] = "second" })
		eventuallyStatus(t, darkroom, "the host of the second installation", hasDomains("photos.second.example.com"))
		eventually(t, "rest", quiet(first))
		eventually(t, "rest", quiet(second))
		now := mustGet(t, &appsv1.Deployment{}, namespace, "photos")
		if now.UID != deployment.UID || now.Generation != deployment.Generation {
			t.Errorf("pods do not stay: the Deployment was %+v and is %+v", deployment.Spec, now.Spec)
		}
	})
	// As `kubectl replace` does, or Argo CD with Replace=true.
	t.Run("which keeps it if the claim is lost", func(t *testing.T) {
		for range 12 {
			change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Annotations = nil })
			eventuallyIs(t, "the claim", &v1alpha1.Darkroom{}, namespace, "photos", func(d *v1alpha1.Darkroom) bool {
				return d.Annotations[v1alpha1.AnnotationInstallation] != ""
			})
			now := mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos")
			if now.Annotations[v1alpha1.AnnotationInstallation] != "second" {
				t.Fatalf("it was taken by %q", now.Annotations[v1alpha1.AnnotationInstallation])
			}
		}
	})
	t.Run("which deletes it", func(t *testing.T) {
		remove(t, darkroom)
		eventually(t, "it is gone", gone(darkroom))
	})
}

// recorded are the events on a Darkroom: warnings begin with "!".
type recorded []string

func (r *recorded) Event(_ *v1alpha1.Darkroom, warning bool, reason, _ string) {
	if warning {
		reason = "!" + reason
	}
	*r = append(*r, reason)
}

// An operator that was reinstalled under another name must not leave its Darkrooms in silence.
func TestADarkroomWhoseInstallationIsGoneIsStalled(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	darkroom := webFolder(namespace, "photos")
	darkroom.Annotations = map[string]string{v1alpha1.AnnotationInstallation: "gone"}
	create(t, darkroom)
	events := &recorded{}
	refuse, now := controller.Refuse("new", kube, events), darkroom.CreationTimestamp.Time
	for _, step := range []struct {
		after, again time.Duration
		events       string
	}{
		{0, time.Minute, "[]"},
		{59 * time.Second, time.Second, "[]"},
		{time.Minute, 0, "[!OtherInstallation]"},
		{time.Hour, 0, "[!OtherInstallation]"},
	} {
		again, err := refuse(t.Context(), mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos"), now.Add(step.after))
		if err != nil || again != step.again || fmt.Sprint(*events) != step.events {
			t.Errorf("after %s: again in %s, events %s, %v", step.after, again, *events, err)
		}
	}
	stalled := mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos").Status
	err := has(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.EventOtherInstallation)(stalled)
	condition := v1alpha1.FindCondition(stalled.Conditions, v1alpha1.ConditionStalled)
	if err != nil || stalled.ObservedGeneration > 0 || !strings.Contains(condition.Message, `installation "gone"`) ||
		!strings.Contains(condition.Message, v1alpha1.AnnotationInstallation+"=new --overwrite") {
		t.Errorf("the status is %+v: %v", stalled, err)
	}

	startOperator(t, namespace, as("gone", baseDomain))
	eventually(t, "the release", installed(namespace, "photos"))
	becomeReady(t, namespace, "photos")
	eventuallyStatus(t, darkroom, "no longer stalled", isReady(), lacks(v1alpha1.ConditionStalled))
	again, err := refuse(t.Context(), mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos"), now.Add(2*time.Hour))
	if again != 0 || err != nil {
		t.Errorf("one that is handled is looked at again in %s: %v", again, err)
	}
}

// Its status says that all is well, as when its installation was uninstalled.
func TestADarkroomWhoseInstallationHasLeftIsStalled(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "leader"},
		Spec:       coordinationv1.LeaseSpec{LeaseDurationSeconds: ptr.To[int32](60), RenewTime: ptr.To(metav1.NowMicro())},
	}
	create(t, lease)
	first := startOperator(t, namespace, as("first", baseDomain), func(o *settings) { o.Lease = namespace + "/leader" })
	darkroom := webFolder(namespace, "photos")
	install(t, darkroom)
	becomeReady(t, namespace, "photos")
	eventuallyStatus(t, darkroom, "ready", isReady())
	first.kill()

	now := time.Now()
	// stalledAfter asks as often as it is told to, and returns when the Darkroom was reported as stalled.
	stalledAfter := func(t *testing.T, most time.Duration, meanwhile func()) time.Duration {
		t.Helper()
		events := &recorded{}
		refuse, start := controller.Refuse("second", kube, events), now
		for now.Sub(start) < most {
			meanwhile()
			again, err := refuse(t.Context(), mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos"), now)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(*events, "!"+v1alpha1.EventOtherInstallation) {
				return now.Sub(start)
			}
			if again <= 0 {
				t.Fatal("it is not looked at again")
			}
			now = now.Add(again)
		}
		return 0
	}
	renewed := func() {
		change(t, lease, func(l *coordinationv1.Lease) { l.Spec.RenewTime = ptr.To(metav1.NowMicro()) })
	}
	if after := stalledAfter(t, 24*time.Hour, renewed); after > 0 {
		t.Errorf("one of an installation that lives is stalled after %s", after)
	}
	if after := stalledAfter(t, time.Hour, func() {}); after < 2*time.Minute || after > 3*time.Minute {
		t.Errorf("one whose lease was not renewed is stalled after %s", after)
	}
	stalled := mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos").Status
	if err := has(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.EventOtherInstallation)(stalled); err != nil {
		t.Error(err)
	}

	second := startOperator(t, namespace, as("first", baseDomain))
	eventuallyStatus(t, darkroom, "no longer stalled", isReady(), lacks(v1alpha1.ConditionStalled))
	eventually(t, "rest", quiet(second))
	second.kill()
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Annotations[v1alpha1.AnnotationInstallation] = "nobody" })
	if after := stalledAfter(t, time.Hour, func() {}); after != time.Minute {
		t.Errorf("one that was given to nobody is stalled after %s", after)
	}
}

// TestTheRunbookMovesAllDarkroomsOfAnInstallation types the command of docs/runbooks.md.
func TestTheRunbookMovesAllDarkroomsOfAnInstallation(t *testing.T) {
	t.Parallel()
	blocks, err := documents.Blocks(filepath.Join("..", "..", "docs", "runbooks.md"), "sh")
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(blocks, func(block string) bool {
		return strings.HasPrefix(block, "OLD=operators NEW=darkroom-system\n")
	})
	if at < 0 {
		t.Fatal("docs/runbooks.md has no command that moves the Darkrooms of an installation")
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
			t.Errorf("%s belongs to %q, want %q", key, got, want.after)
		}
	}
}
