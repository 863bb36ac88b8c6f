package apiserver

import (
	"context"
	"strings"
	"time"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/live"
)

const (
	// fieldManager is the field manager of writes that do not come from the page. See managerOf.
	fieldManager = "darkroom-apiserver"
	// pageManager is the field manager of writes from the page.
	pageManager = "darkroom-page"
	// maxFieldManager is the limit of Kubernetes, in bytes.
	maxFieldManager = 128
	plural          = "darkrooms"
	// catchUp limits how long the response to a write waits for the cache to catch up.
	catchUp = 2 * time.Second
	// defaultNamespace is used for bodies without a namespace.
	defaultNamespace = "default"
)

// DryRunInput is a parameter of all writes of Darkrooms.
type DryRunInput struct {
	DryRun string `query:"dryRun" enum:"All" doc:"All: have the cluster check the write, and store nothing"`
}

func (d *DryRunInput) list() []string {
	if d.DryRun == "" {
		return nil
	}
	return []string{metav1.DryRunAll}
}

// conflicts is the back-off after conflicts, for example with a write of the status. Jitter keeps clients from
// conflicting again.
var conflicts = wait.Backoff{Duration: 5 * time.Millisecond, Factor: 1.5, Jitter: 1, Steps: 12}

// retryOnConflict writes until there is no conflict, and returns the error lasting if there is one at the end.
func retryOnConflict(write func() error, lasting error) error {
	err := retry.RetryOnConflict(conflicts, write)
	if apierrors.IsConflict(err) {
		return lasting
	}
	return err
}

// managerOf returns the field manager of a caller's writes. It contains the user's name if that is short and printable,
// because Kubernetes records no other author.
func managerOf(ctx context.Context) string {
	way := fieldManager
	if ctx.Value(onPageKey{}) == true {
		way = pageManager
	}
	manager := way + ":" + auth.CallerOf(ctx).Name()
	if len(manager) > maxFieldManager || strings.ContainsFunc(manager, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return way
	}
	return manager
}

// awaitRead waits until the cache contains a write.
func (s *Server) awaitRead(ctx context.Context, stored *v1alpha1.Darkroom, dryRun bool) {
	if dryRun {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, catchUp)
	defer cancel()
	s.darkrooms.Await(ctx, live.KeyOf(stored), stored.ResourceVersion)
}
