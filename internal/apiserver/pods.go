package apiserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// maxRelated and maxRelatedBytes limit the number and the size of the pods or events in a response.
const maxRelated, maxRelatedBytes = 500, 6 << 20

// Pod is a pod of a Darkroom.
type Pod struct {
	Name      string     `json:"name"`
	Phase     string     `json:"phase" doc:"Pending, Running, Succeeded, Failed or Unknown"`
	Ready     bool       `json:"ready"`
	Restarts  int32      `json:"restarts"`
	Reason    string     `json:"reason,omitempty" doc:"Reason why it is not running, for example ImagePullBackOff"`
	Message   string     `json:"message,omitempty" doc:"Explanation of the reason"`
	Image     string     `json:"image,omitempty"`
	Node      string     `json:"node,omitempty"`
	IP        string     `json:"ip,omitempty"`
	StartedAt *time.Time `json:"startedAt,omitempty"`
}

// PodList contains the pods of a Darkroom, sorted by name.
type PodList struct {
	Items []Pod `json:"items"`
}

func (s *Server) pods(ctx context.Context, in *PathInput) (*reply.JSON[PodList], error) {
	pods, leave, err := s.podsOf(ctx, in)
	if err != nil {
		return nil, err
	}
	defer leave()
	out := PodList{Items: []Pod{}}
	for i := range pods {
		out.Items = append(out.Items, describePod(&pods[i]))
	}
	slices.SortFunc(out.Items, func(a, b Pod) int { return cmp.Compare(a.Name, b.Name) })
	return reply.With(out), nil
}

// podsOf lists the pods of a Darkroom with the server's own token if the caller may list pods. The caller holds a place
// of limits.Reads until leave is called.
func (s *Server) podsOf(ctx context.Context, in *PathInput) (pods []corev1.Pod, leave func(), err error) {
	darkroom, err := s.readable(ctx, in.key())
	if err != nil {
		return nil, nil, err
	}
	if err := s.auth.Access.Require(ctx, auth.Right{Verb: "list", Resource: "pods", Namespace: in.Namespace}); err != nil {
		return nil, nil, err
	}
	// The selector is set when the Darkroom is installed. An empty selector would match all pods.
	if darkroom.Status.Selector == "" {
		return nil, func() {}, nil
	}
	if leave, err = s.read(ctx); err != nil {
		return nil, nil, err
	}
	list := &corev1.PodList{}
	if err := s.listRelated(ctx, in.Namespace, "pods", metav1.ListOptions{LabelSelector: darkroom.Status.Selector},
		list); err != nil {
		leave()
		return nil, nil, err
	}
	return list.Items, leave, nil
}

// listRelated lists objects with the server's own token: at most maxRelated, and fewer if they are large. Tenants
// control the size of their pods.
func (s *Server) listRelated(
	ctx context.Context, namespace, resource string, options metav1.ListOptions, into any,
) error {
	for options.Limit = maxRelated; options.Limit > 0; options.Limit /= 4 {
		body, err := s.kube.CoreV1().RESTClient().Get().Namespace(namespace).Resource(resource).
			VersionedParams(&options, scheme.ParameterCodec).Stream(ctx)
		if err != nil {
			return wire.FromKubernetes(err, wire.AsIs)
		}
		raw, err := io.ReadAll(io.LimitReader(body, maxRelatedBytes+1))
		body.Close()
		switch {
		case err != nil:
			return wire.FromKubernetes(err, wire.AsIs)
		case len(raw) > maxRelatedBytes:
			continue
		}
		if err := json.Unmarshal(raw, into); err != nil {
			return fmt.Errorf("decode list of %s: %w", resource, err)
		}
		return nil
	}
	return problem.New(http.StatusUnprocessableEntity,
		fmt.Sprintf("the %s of the Darkroom are larger than %d MiB", resource, maxRelatedBytes>>20))
}

// PodInput names a pod of a Darkroom.
type PodInput struct {
	PathInput

	Pod string `path:"pod" maxLength:"253" pattern:"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$" doc:"Name of a pod of the Darkroom"`
}

// podOf returns a pod of a Darkroom if the caller may get the Darkroom and has the other permission. Pods of others are
// not found.
func (s *Server) podOf(ctx context.Context, in *PodInput, needed auth.Right) (*corev1.Pod, error) {
	darkroom, err := s.readable(ctx, in.key())
	if err != nil {
		return nil, err
	}
	if err := s.auth.Access.Require(ctx, needed); err != nil {
		return nil, err
	}
	missing := problem.New(http.StatusNotFound, fmt.Sprintf("the Darkroom has no pod %q", in.Pod))
	selector, err := labels.Parse(darkroom.Status.Selector)
	if err != nil || selector.Empty() {
		return nil, missing
	}
	leave, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	pod, err := s.kube.CoreV1().Pods(in.Namespace).Get(ctx, in.Pod, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, missing
	case err != nil:
		return nil, wire.FromKubernetes(err, wire.AsIs)
	case !selector.Matches(labels.Set(pod.Labels)):
		return nil, missing
	}
	return pod, nil
}

// read takes a place of limits.Reads for a request with the server's own identity, until leave is called.
func (s *Server) read(ctx context.Context) (leave func(), err error) {
	if err := s.auth.Access.Spend(ctx); err != nil {
		return nil, err
	}
	return s.limits.Reads.Enter(ctx, auth.CallerOf(ctx).Name())
}

func describePod(pod *corev1.Pod) Pod {
	out := Pod{
		Name:      pod.Name,
		Phase:     cmp.Or(string(pod.Status.Phase), string(corev1.PodUnknown)),
		Reason:    pod.Status.Reason,
		Message:   pod.Status.Message,
		Node:      pod.Spec.NodeName,
		IP:        pod.Status.PodIP,
		StartedAt: wire.Time(pod.Status.StartTime),
	}
	if len(pod.Spec.Containers) > 0 {
		out.Image = pod.Spec.Containers[0].Image
	}
	for _, condition := range pod.Status.Conditions {
		switch {
		case condition.Type == corev1.PodReady:
			out.Ready = condition.Status == corev1.ConditionTrue
		case condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse:
			out.Reason, out.Message = condition.Reason, condition.Message
		}
	}
	for _, container := range pod.Status.ContainerStatuses {
		out.Restarts += container.RestartCount
		if waiting := container.State.Waiting; waiting != nil {
			out.Reason, out.Message = waiting.Reason, waiting.Message
		}
		if ended := container.State.Terminated; ended != nil {
			out.Reason, out.Message = ended.Reason, ended.Message
		}
	}
	return out
}
