package apiserver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/live"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

const (
	// maxLog limits the size of a log, in bytes. logTimeout and maxFollow limit the time to read and to follow a log.
	maxLog     = 8 << 20
	logTimeout = 30 * time.Second
	maxFollow  = 15 * time.Minute
)

// toLogs is the permission to read the logs of pods.
func toLogs(namespace string) auth.Right {
	return auth.Right{Verb: "get", Resource: "pods", Subresource: "log", Namespace: namespace}
}

type logInput struct {
	PodInput

	Lines      int64  `query:"lines" minimum:"1" maximum:"10000" default:"500" doc:"Number of lines from the end of the log"`
	Follow     bool   `query:"follow" doc:"Keep the stream open and send new lines as they are written"`
	Previous   bool   `query:"previous" doc:"The log before the last restart of the container"`
	Container  string `query:"container" enum:"darkroom,gate" default:"darkroom" doc:"Container of the log; other containers may be injected"`
	Timestamps bool   `query:"timestamps" doc:"Begin each line with its timestamp"`
}

func (in *logInput) options() *corev1.PodLogOptions {
	return &corev1.PodLogOptions{
		Container: in.Container, Follow: in.Follow, Previous: in.Previous, Timestamps: in.Timestamps,
		TailLines: &in.Lines, LimitBytes: ptr.To(int64(maxLog)),
	}
}

// podLog sends the log of a pod. It reads the log with the caller's own token.
func (s *Server) podLog(ctx context.Context, in *logInput) (*reply.Raw, error) {
	pod, err := s.podOf(ctx, &in.PodInput, toLogs(in.Namespace))
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == in.Container }) {
		return nil, problem.New(http.StatusNotFound, fmt.Sprintf("the pod has no container %q", in.Container))
	}
	who := auth.CallerOf(ctx).Name()
	leave, err := s.limits.Logs.Enter(ctx, who)
	if err != nil {
		return nil, problem.TooManyRequests(fmt.Sprintf("too many logs are open; each caller may read %d at the same time",
			limit.MaxLogs), 10)
	}
	timeout := logTimeout
	if in.Follow {
		timeout = maxFollow
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	end := func() {
		cancel()
		leave()
	}
	log, err := s.openLog(ctx, in)
	if err != nil {
		end()
		return nil, err
	}
	return reply.Written(func(w http.ResponseWriter, _ *http.Request) {
		defer end()
		defer log.Close()
		if in.Follow {
			go s.guardLog(ctx, in, cancel)
		}
		reason := sendLog(w, log)
		s.log.V(1).Info("Log ended", "user", who, "pod", in.Pod, "reason", fmt.Sprint(reason))
	}), nil
}

// sendLog sends a log, and returns the reason why it ended.
func sendLog(w http.ResponseWriter, log io.Reader) error {
	out := reply.NewPieces(w)
	if err := out.Open("text/plain; charset=utf-8"); err != nil {
		return err
	}
	_, err := io.Copy(out, io.LimitReader(log, maxLog))
	return err
}

func (s *Server) openLog(ctx context.Context, in *logInput) (io.ReadCloser, error) {
	log, err := s.auth.Clients.Logs.Get().Namespace(in.Namespace).Resource("pods").Name(in.Pod).SubResource("log").
		VersionedParams(in.options(), s.auth.Clients.Parameters).
		// Otherwise the client adds its default timeout as a query parameter.
		Timeout(0).MaxRetries(0).Stream(ctx)
	switch {
	case err == nil:
		return log, nil
	case apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "previous terminated container"):
		return nil, problem.New(http.StatusNotFound, "there is no previous log: the container has not been restarted")
	case apierrors.IsBadRequest(err):
		// The container has not started yet.
		return nil, problem.Unavailable(err.Error())
	}
	return nil, wire.FromKubernetes(err, wire.AsIs)
}

// guardLog ends a followed log when the server stops, or when the caller's token or permission is revoked. Kubernetes
// checks both only when the log is opened.
func (s *Server) guardLog(ctx context.Context, in *logInput, end func()) {
	defer end()
	heartbeat := time.NewTicker(s.options.Heartbeat)
	defer heartbeat.Stop()
	for {
		select {
		case <-heartbeat.C:
			if !s.stillMayReadLog(ctx, in) {
				return
			}
		case <-s.stopping:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (s *Server) stillMayReadLog(ctx context.Context, in *logInput) bool {
	ctx, cancel := context.WithTimeout(ctx, live.BeatTimeout)
	defer cancel()
	if err := s.auth.StillKnown(ctx); err != nil {
		return false
	}
	for _, right := range []auth.Right{toLogs(in.Namespace), auth.ToDarkrooms("get", in.Namespace, in.Name)} {
		if allowed, err := s.auth.Access.Patient().May(ctx, right); err != nil || !allowed {
			return false
		}
	}
	return true
}
