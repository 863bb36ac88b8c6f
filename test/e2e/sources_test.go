//go:build e2e

package e2e

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/images"
)

const (
	sourcesNamespace = "darkroom-e2e-sources"

	// The bucket's name is not a valid DNS name, so the bucket is addressed by path. No DNS server would resolve a
	// bucket as a subdomain of a pod's address.
	bucket    = "my_photos"
	region    = "eu-west-2"
	accessKey = "e2e-access-key"
	secretKey = "e2e-secret-key"
)

// sources are pods that Darkrooms read images from. Both have the same paths.
type sources struct {
	// folderURL and bucketURL contain the pods' addresses.
	folderURL, bucketURL string
}

// startSources starts the pods and waits until they are ready.
func startSources(ctx context.Context) (sources, error) {
	namespace := restricted(sourcesNamespace, "")
	if err := kube.Create(ctx, namespace); err != nil && !apierrors.IsAlreadyExists(err) {
		return sources{}, fmt.Errorf("create namespace: %w", err)
	}
	folder, err := startSource(ctx, "webfolder", 8080, "webfolder")
	if err != nil {
		return sources{}, err
	}
	bucket, err := startSource(ctx, "s3", 9000, "s3",
		"--bucket", bucket, "--region", region, "--access-key", accessKey, "--secret-key", secretKey)
	return sources{folderURL: folder, bucketURL: bucket}, err
}

// startSource starts a pod unless it is running, waits until it is ready, and returns its URL.
func startSource(ctx context.Context, name string, port int32, kind string, args ...string) (url string, err error) {
	pod := images.SourcePod(sourcesNamespace, name, kind, port, args...)
	if err := kube.Create(ctx, pod); err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("create pod %s: %w", name, err)
	}
	err = poll(ctx, "pod "+name+" is ready", func(ctx context.Context) error {
		err := kube.Get(ctx, client.ObjectKeyFromObject(pod), pod)
		if err == nil && !images.IsReady(pod) {
			err = fmt.Errorf("it is %s: %+v", pod.Status.Phase, pod.Status.ContainerStatuses)
		}
		return err
	})
	return fmt.Sprintf("http://%s:%d", pod.Status.PodIP, port), err
}

// webFolder is the source that reads from the web folder.
func (s sources) webFolder() v1alpha1.Source {
	return v1alpha1.Source{Type: v1alpha1.WebFolder, BaseURL: s.folderURL}
}

// s3 is the source that reads from the bucket, with inline keys.
func (s sources) s3() v1alpha1.Source {
	return v1alpha1.Source{
		Type: v1alpha1.S3, Bucket: bucket, Region: region, Endpoint: s.bucketURL, AccessKey: accessKey, SecretKey: secretKey,
	}
}
