// Package scorecard is the test of the bundle that `operator-sdk scorecard` runs in a pod: a
// Darkroom must serve an image. It needs no network outside of the cluster, because the pod
// is the source of the image, and no permissions but for Darkrooms in its namespace.
package scorecard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

const (
	// resultName is the name of the result in the output of scorecard.
	resultName = "serves-an-image"
	// imagePath is the path of the image in the source.
	imagePath = "/sample.jpg"
	// pollPeriod is the interval of checks while waiting.
	pollPeriod = time.Second
	// cleanUpTimeout bounds the deletion of the Darkroom, which happens after a timeout too.
	cleanUpTimeout = 30 * time.Second
)

// Test is one run of the test.
type Test struct {
	// Client is for Darkrooms.
	Client client.Client
	// Namespace is that of the Darkroom.
	Namespace string
	// Listener accepts the requests of the Darkroom's pods for the image. Run closes it.
	Listener net.Listener
}

// Run creates a Darkroom, waits until the context ends or its image is served, and deletes
// it. The status has one result; its errors say what is missing.
func (t Test) Run(ctx context.Context) v1alpha3.TestStatus {
	result := v1alpha3.TestResult{Name: resultName, State: v1alpha3.PassState}
	if err := t.run(ctx); err != nil {
		result.State, result.Errors = v1alpha3.FailState, []string{err.Error()}
	}
	return v1alpha3.TestStatus{Results: []v1alpha3.TestResult{result}}
}

func (t Test) run(ctx context.Context) (err error) {
	var requests atomic.Int64
	source := http.Server{Handler: sample(&requests), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = source.Serve(t.Listener) }()
	defer func() { err = errors.Join(err, source.Close()) }()

	name := "scorecard-" + rand.String(6)
	darkroom := &v1alpha1.Darkroom{
		ObjectMeta: metav1.ObjectMeta{Namespace: t.Namespace, Name: name},
		Spec: v1alpha1.DarkroomSpec{
			Source:     v1alpha1.Source{Type: v1alpha1.WebFolder, BaseURL: "http://" + t.Listener.Addr().String()},
			SubDomains: []string{name},
			Probe:      &v1alpha1.Probe{Path: imagePath},
		},
	}
	if err := t.Client.Create(ctx, darkroom); err != nil {
		return fmt.Errorf("create Darkroom %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, t.remove(context.WithoutCancel(ctx), darkroom)) }()

	if err := poll(ctx, func(ctx context.Context) (bool, error) {
		err := t.Client.Get(ctx, client.ObjectKeyFromObject(darkroom), darkroom)
		return err == nil && serves(darkroom), ignoreInterruption(ctx, err)
	}); err != nil {
		return fmt.Errorf("Darkroom %s does not serve an image: phase %q, %s: %w", name, darkroom.Status.Phase, darkroom.Status.Message, err)
	}
	if requests.Load() == 0 {
		return fmt.Errorf("Darkroom %s is ready, but did not read the image", name)
	}
	return nil
}

// serves reports whether a Darkroom is ready, and the operator was served the image.
func serves(darkroom *v1alpha1.Darkroom) bool {
	for _, name := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionSourceReady} {
		condition := v1alpha1.FindCondition(darkroom.Status.Conditions, name)
		if condition == nil || condition.Status != metav1.ConditionTrue || condition.ObservedGeneration != darkroom.Generation {
			return false
		}
	}
	return true
}

// remove deletes the Darkroom, and waits until the operator has removed its objects.
func (t Test) remove(ctx context.Context, darkroom *v1alpha1.Darkroom) error {
	ctx, cancel := context.WithTimeout(ctx, cleanUpTimeout)
	defer cancel()
	if err := t.Client.Delete(ctx, darkroom); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Darkroom %s: %w", darkroom.Name, err)
	}
	if err := poll(ctx, func(ctx context.Context) (bool, error) {
		err := t.Client.Get(ctx, client.ObjectKeyFromObject(darkroom), darkroom)
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, ignoreInterruption(ctx, err)
	}); err != nil {
		return fmt.Errorf("Darkroom %s is not deleted: %w", darkroom.Name, err)
	}
	return nil
}

func poll(ctx context.Context, check wait.ConditionWithContextFunc) error {
	return wait.PollUntilContextCancel(ctx, pollPeriod, true, check)
}

// ignoreInterruption drops the error of a request that the end of the context interrupted:
// the poll reports that end.
func ignoreInterruption(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// sample serves an image, and counts the requests for it.
func sample(requests *atomic.Int64) http.Handler {
	var content bytes.Buffer
	err := jpeg.Encode(&content, image.NewGray(image.Rect(0, 0, 64, 32)), nil)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+imagePath, func(w http.ResponseWriter, _ *http.Request) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		requests.Add(1)
		w.Header().Set("Content-Type", "image/jpeg")
		_, _ = w.Write(content.Bytes())
	})
	return mux
}
