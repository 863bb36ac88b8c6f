package controller_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/internal/controller"
)

// Differences that the caches do not show are found too, only later.
func TestAllIsVerifiedPastTheCachesOnceInAPeriod(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	operator := startOperator(t, namespace, withPeriod(300*time.Millisecond), func(o *controller.Options, _ *rest.Config) {
		o.VerifyPeriod = 2 * time.Second
	})
	create(t, webFolder(namespace, "photos"))
	eventually(t, "the release", installed(namespace, "photos"))
	becomeReady(t, namespace, "photos")
	eventually(t, "rest between two verifications", quiet(operator))

	before := mustGet(t, &corev1.Service{}, namespace, "photos").ResourceVersion
	written := operator.requests.writes.Load()
	eventually(t, "a verification", func(context.Context) error {
		if objects, writes := int64(6), operator.requests.writes.Load()-written; writes < objects {
			return fmt.Errorf("%d writes, want one for each of %d objects", writes, objects)
		}
		return nil
	})
	if after := mustGet(t, &corev1.Service{}, namespace, "photos").ResourceVersion; after != before {
		t.Error("the verification changed what was as it should be")
	}
	eventually(t, "rest after it", quiet(operator))
}
