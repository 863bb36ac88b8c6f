package controller

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
)

func TestEachErrorOfAReconcileIsToldOrWaitsAndIsRetriedInTime(t *testing.T) {
	t.Parallel()
	services := schema.GroupResource{Resource: "services"}
	forbidden := apierrors.NewForbidden(services, "photos", errors.New("a policy"))
	leavingNamespace := apierrors.NewForbidden(services, "photos", errors.New("the namespace is being deleted"))
	leavingNamespace.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for name, test := range map[string]struct {
		err          error
		waits, final bool
		event        string
		isBackedOff  bool
	}{
		"nothing":            {isBackedOff: true},
		"a namespace leaves": {err: leavingNamespace, waits: true},
		"stale cache":        {err: errStale, waits: true},
		"deleted revision":   {err: storage.ErrDeleted, waits: true},
		"a route leaves":     {err: release.ErrLeaving, waits: true},
		"another Helm":       {err: release.ErrBusy, isBackedOff: true},
		"foreign release":    {err: storage.ErrForeignRelease, event: EventForeignRelease},
		"invalid":            {err: invalidError{errors.New("spec.source")}, final: true, event: EventRefused, isBackedOff: true},
		"a policy":           {err: forbidden, event: release.EventFailed},
		"a timeout":          {err: errors.New("timeout"), event: release.EventFailed, isBackedOff: true},
	} {
		got := outcomeOf(fmt.Errorf("reconcile: %w", test.err))
		if test.err == nil {
			got = outcomeOf(nil)
		}
		if got.waits != test.waits || got.final != test.final || got.event != test.event || (got.again == 0) != test.isBackedOff {
			t.Errorf("%s: got outcome %+v, want %+v", name, got, test)
		}
		result, err := got.result(test.err)
		isTerminal := errors.Is(err, reconcile.TerminalError(nil))
		if result.RequeueAfter != got.again || isTerminal != test.final || (err != nil) != (test.err != nil && test.isBackedOff) {
			t.Errorf("%s: got result %+v (%v), want %+v", name, result, err, test)
		}
	}
}
