package controller_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// unsafeParts are changes to the pods of a Darkroom that the guard does not allow the operator to make.
var unsafeParts = map[string]func(*corev1.PodSpec){
	"host network":   func(pod *corev1.PodSpec) { pod.HostNetwork = true },
	"host processes": func(pod *corev1.PodSpec) { pod.HostPID = true },
	"host path": func(pod *corev1.PodSpec) {
		pod.Volumes = append(pod.Volumes, corev1.Volume{
			Name:         "node",
			VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}},
		})
	},
	"token": func(pod *corev1.PodSpec) { pod.AutomountServiceAccountToken = ptr.To(true) },
	"SELinux options": func(pod *corev1.PodSpec) {
		pod.SecurityContext.SELinuxOptions = &corev1.SELinuxOptions{Level: "s0"}
	},
	"privileged container": func(pod *corev1.PodSpec) {
		pod.Containers = append(pod.Containers,
			corev1.Container{Name: "debug", Image: "debug", SecurityContext: &corev1.SecurityContext{Privileged: ptr.To(true)}})
	},
	"privileges": func(pod *corev1.PodSpec) {
		context := pod.Containers[0].SecurityContext
		context.Privileged, context.AllowPrivilegeEscalation = ptr.To(true), ptr.To(true)
	},
	"capability": func(pod *corev1.PodSpec) {
		pod.Containers[0].SecurityContext.Capabilities.Add = []corev1.Capability{"NET_ADMIN"}
	},
	"host port": func(pod *corev1.PodSpec) { pod.Containers[0].Ports[0].HostPort = 3000 },
}

// TestTheGuardDoesNotKeepTheOperatorFromRemovingWhatItForbids adds each unsafe part alone, and together with a change
// to a field that the operator owns.
func TestTheGuardDoesNotKeepTheOperatorFromRemovingWhatItForbids(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	startOperator(t, namespace)
	edit := func(t *testing.T, name string, mutate func(*corev1.PodSpec)) {
		t.Helper()
		install(t, with(webFolder(namespace, name), name))
		deployment := mustGet(t, &appsv1.Deployment{}, namespace, name)
		before := encoded(deployment.Spec.Template.Spec)
		mutate(&deployment.Spec.Template.Spec)
		if err := kube.Update(t.Context(), deployment, client.FieldOwner("kubectl-edit")); err != nil {
			t.Fatal(err)
		}
		eventuallyIs(t, "the pods are as before", &appsv1.Deployment{}, namespace, name, func(d *appsv1.Deployment) bool {
			return encoded(d.Spec.Template.Spec) == before
		})
	}
	for number, part := range slices.Sorted(maps.Keys(unsafeParts)) {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			add := unsafeParts[part]
			edit(t, fmt.Sprintf("alone-%d", number), add)
			edit(t, fmt.Sprintf("changed-%d", number), func(pod *corev1.PodSpec) {
				add(pod)
				pod.Containers[0].Image = "example.com/another:v1"
			})
		})
	}
	install(t, webFolder(namespace, "photos"))
	service := mustGet(t, &corev1.Service{}, namespace, "photos")
	service.Spec.ExternalIPs, service.Spec.Ports[0].Port = []string{"192.0.2.1"}, 8080
	if err := kube.Update(t.Context(), service, client.FieldOwner("kubectl-edit")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Service is as before", func(ctx context.Context) error {
		now, err := get(ctx, &corev1.Service{}, namespace, "photos")
		if err == nil && (len(now.Spec.ExternalIPs) > 0 || now.Spec.Ports[0].Port == 8080) {
			err = fmt.Errorf("the Service has the addresses %q and the ports %v", now.Spec.ExternalIPs, now.Spec.Ports)
		}
		return err
	})
}
