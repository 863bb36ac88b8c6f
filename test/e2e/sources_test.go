//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

const (
	sourcesNamespace = "darkroom-e2e-sources"
	folderPod        = "webfolder"
	bucketPod        = "s3"

	// The bucket's name is not a valid DNS name, so that it is addressed by path: no DNS
	// resolves a bucket in front of a pod's address.
	bucket    = "my_photos"
	region    = "eu-west-2"
	accessKey = "e2e-access-key"
	secretKey = "e2e-secret-key"
)

// sources are pods that Darkrooms read images from. Both have the same paths.
type sources struct {
	// folderURL and bucketURL have the pods' addresses.
	folderURL, bucketURL string
}

// startSources starts the pods and returns once they are ready.
func startSources(ctx context.Context) (sources, error) {
	namespace := restricted(sourcesNamespace, "")
	if err := kube.Create(ctx, namespace); err != nil && !apierrors.IsAlreadyExists(err) {
		return sources{}, fmt.Errorf("create namespace: %w", err)
	}
	folder, err := startSource(ctx, folderPod, 8080, "webfolder", "--addr", ":8080")
	if err != nil {
		return sources{}, err
	}
	bucket, err := startSource(ctx, bucketPod, 9000, "s3", "--addr", ":9000",
		"--bucket", bucket, "--region", region, "--access-key", accessKey, "--secret-key", secretKey)
	return sources{folderURL: folder, bucketURL: bucket}, err
}

func startSource(ctx context.Context, name string, port int32, args ...string) (url string, err error) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: sourcesNamespace, Name: name},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken: ptr.To(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   ptr.To(true),
				RunAsUser:      ptr.To(int64(65532)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name:            "source",
				Image:           sourcesImage,
				ImagePullPolicy: corev1.PullIfNotPresent,
				Args:            args,
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: ptr.To(false),
					ReadOnlyRootFilesystem:   ptr.To(true),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
				ReadinessProbe: &corev1.Probe{
					PeriodSeconds: 1,
					ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(port)}},
				},
			}},
		},
	}
	if err := kube.Create(ctx, pod); err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("create pod %s: %w", name, err)
	}
	err = poll(ctx, "pod "+name+" is ready", func(ctx context.Context) error {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if !isPodReady(pod) {
			return fmt.Errorf("it is %s: %+v", pod.Status.Phase, pod.Status.ContainerStatuses)
		}
		return nil
	})
	return fmt.Sprintf("http://%s:%d", pod.Status.PodIP, port), err
}

func isPodReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// webFolder is the source that reads from the web folder.
func (s sources) webFolder() v1alpha1.Source {
	return v1alpha1.Source{Type: v1alpha1.WebFolder, BaseURL: s.folderURL}
}

// s3 is the source that reads from the bucket; without credentials.
func (s sources) s3() v1alpha1.Source {
	return v1alpha1.Source{Type: v1alpha1.S3, Bucket: bucket, Region: region, Endpoint: s.bucketURL}
}

// s3Inline reads from the bucket with keys in the resource.
func (s sources) s3Inline(access, secret string) v1alpha1.Source {
	source := s.s3()
	source.AccessKey, source.SecretKey = access, secret
	return source
}

// s3Reference reads from the bucket with the keys of a Secret.
func (s sources) s3Reference(name string) v1alpha1.Source {
	source := s.s3()
	source.CredentialsSecretRef = &v1alpha1.CredentialsSecretRef{Name: name}
	return source
}

// served counts what a source answered so far with a status, by its access log.
func (s sources) served(ctx context.Context, pod string, status int) (int, error) {
	stream, err := clientset.CoreV1().Pods(sourcesNamespace).GetLogs(pod, &corev1.PodLogOptions{}).Stream(ctx)
	if err != nil {
		return 0, fmt.Errorf("read log of pod %s: %w", pod, err)
	}
	defer stream.Close()
	count := 0
	lines := bufio.NewScanner(stream)
	for lines.Scan() {
		var line struct {
			Message string `json:"msg"`
			Status  int    `json:"status"`
		}
		if strings.HasPrefix(lines.Text(), "{") && json.Unmarshal(lines.Bytes(), &line) == nil &&
			line.Message == "request" && line.Status == status {
			count++
		}
	}
	return count, lines.Err()
}
