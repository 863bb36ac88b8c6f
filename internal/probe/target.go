package probe

import (
	"cmp"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// The defaults of spec.probe, for resources that the API server did not default.
const (
	defaultPeriod           = 60
	defaultTimeout          = 10
	defaultFailureThreshold = 3
)

// Target describes the requests of a Darkroom's probes. Targets are comparable.
type Target struct {
	// Address is the IP address and port of the Darkroom's Service. A DNS name is not used, because a tenant could make
	// it resolve to another address.
	Address string
	// Path is the path of the image, unescaped, with a leading slash.
	Path string
	// Source is the type of the source, which determines the remedies.
	Source v1alpha1.SourceType
	// Gate is set if the Darkroom has a gate, whose responses explain failures.
	Gate bool
	// Period is the time between two probes.
	Period time.Duration
	// Timeout is the time within which a probe must succeed.
	Timeout time.Duration
	// FailureThreshold is the number of consecutive failures after which the result is False.
	FailureThreshold int
	// Pod is the pod to probe; zero means the Service. A result applies to all pods of the same revision.
	Pod Pod
	// Revision identifies the pods. A new revision is probed at once, and results of the
	// previous one are discarded.
	Revision string
}

// Pod identifies a pod that can be probed. Pods are comparable.
type Pod struct {
	// Name is the pod's name.
	Name string
	// IP is the pod's address.
	IP string
	// Port is the target port of the Service.
	Port string
}

// PodOf returns the name, address and port of a pod to probe.
func PodOf(pod *corev1.Pod) Pod {
	out := Pod{Name: pod.Name, IP: pod.Status.PodIP, Port: defaultPort}
	for i := range pod.Spec.Containers {
		for _, port := range pod.Spec.Containers[i].Ports {
			if port.Name == portName {
				out.Port = strconv.Itoa(int(port.ContainerPort))
			}
		}
	}
	return out
}

// TargetOf returns the target for a Darkroom that sets a probe. Address, Pod and Revision are left empty.
func TargetOf(darkroom *v1alpha1.Darkroom) Target {
	probe := darkroom.Spec.Probe
	seconds := func(value *int32, otherwise int32) time.Duration {
		return time.Duration(ptr.Deref(value, otherwise)) * time.Second
	}
	return Target{
		Path:             probe.Path,
		Source:           cmp.Or(darkroom.Spec.Source.Type, v1alpha1.WebFolder),
		Gate:             darkroom.Spec.Gate != nil,
		Period:           seconds(probe.PeriodSeconds, defaultPeriod),
		Timeout:          seconds(probe.TimeoutSeconds, defaultTimeout),
		FailureThreshold: int(ptr.Deref(probe.FailureThreshold, defaultFailureThreshold)),
	}
}
