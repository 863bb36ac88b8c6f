//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Not parallel: a machine that is busy elsewhere would be measured.
func TestNoRequestFailsWhileSourceScaleOrSettingsChange(t *testing.T) {
	darkroom := newDarkroom(newNamespace(t), "rolled").Obj()
	create(t, darkroom)
	waitSettled(t, darkroom)
	waitServing(t, darkroom)

	to := func(mutate func(*v1alpha1.DarkroomSpec)) func() {
		return func() {
			change(t, darkroom, func(d *v1alpha1.Darkroom) { mutate(&d.Spec) })
			// Until the last pod that is replaced has ended: it is then that requests
			// would be lost.
			waitSettled(t, darkroom)
		}
	}
	load := startLoad(hostOf(darkroom))
	defer load.end(t)
	load.during(t, "WebFolder to S3", to(func(spec *v1alpha1.DarkroomSpec) { spec.Source = theSources.s3Inline(accessKey, secretKey) }))
	load.during(t, "served from S3", func() { mustReadFrom(t, load, bucketPod) })
	load.during(t, "S3 to WebFolder", to(func(spec *v1alpha1.DarkroomSpec) { spec.Source = theSources.webFolder() }))
	load.during(t, "served from the WebFolder", func() { mustReadFrom(t, load, folderPod) })
	load.during(t, "1 to 3 replicas", to(func(spec *v1alpha1.DarkroomSpec) { spec.Replicas = ptr.To(int32(3)) }))
	load.during(t, "logLevel with 3 replicas", to(func(spec *v1alpha1.DarkroomSpec) { spec.LogLevel = "warn" }))
	load.during(t, "3 to 1 replicas", to(func(spec *v1alpha1.DarkroomSpec) { spec.Replicas = ptr.To(int32(1)) }))
}

// mustReadFrom makes sure that the load is served from a source, and from it alone.
func mustReadFrom(t *testing.T, load *load, source string) {
	t.Helper()
	count := func() map[string]int {
		counts := map[string]int{}
		for _, pod := range []string{folderPod, bucketPod} {
			served, err := theSources.served(t.Context(), pod, http.StatusOK)
			if err != nil {
				t.Fatal(err)
			}
			counts[pod] = served
		}
		return counts
	}
	before := count()
	requests, _ := load.count()
	eventually(t, "twenty more requests are answered", func(context.Context) error {
		if now, _ := load.count(); now < requests+20 {
			return fmt.Errorf("there were %d", now-requests)
		}
		return nil
	})
	for pod, served := range count() {
		if got := served > before[pod]; got != (pod == source) {
			t.Errorf("%s was read %d times, though the source is %s", pod, served-before[pod], source)
		}
	}
}
