package claims

import (
	"context"
	"errors"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

var errNotNow = errors.New("not now")

// unsteady fails in one of its reads.
type unsteady struct {
	client.Reader
	reads  *int
	failAt int
}

func (u unsteady) fails() error {
	if *u.reads++; *u.reads == u.failAt {
		return errNotNow
	}
	return nil
}

func (u unsteady) Get(
	ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption,
) error {
	if err := u.fails(); err != nil {
		return err
	}
	return u.Reader.Get(ctx, key, object, options...)
}

func (u unsteady) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := u.fails(); err != nil {
		return err
	}
	return u.Reader.List(ctx, list, options...)
}

// What cannot be read is not taken for absent.
func TestAReadThatFailsIsAnError(t *testing.T) {
	for name, act := range map[string]func(context.Context, *Ledger, *v1alpha1.Darkroom, client.Object) error{
		"Judge": func(ctx context.Context, l *Ledger, d *v1alpha1.Darkroom, _ client.Object) error {
			_, err := l.Judge(ctx, d)
			return err
		},
		"Refusals": func(ctx context.Context, l *Ledger, d *v1alpha1.Darkroom, _ client.Object) error {
			_, err := l.Refusals(ctx, d)
			return err
		},
		"Commit": func(ctx context.Context, l *Ledger, d *v1alpha1.Darkroom, _ client.Object) error {
			return l.Commit(ctx, client.ObjectKeyFromObject(d), &Judgement{})
		},
		"Forget": func(ctx context.Context, l *Ledger, d *v1alpha1.Darkroom, _ client.Object) error {
			return l.Forget(ctx, client.ObjectKeyFromObject(d))
		},
		"Rivals of a Darkroom": func(ctx context.Context, l *Ledger, d *v1alpha1.Darkroom, _ client.Object) error {
			_, err := l.Rivals(ctx, d)
			return err
		},
		"Rivals of a route": func(ctx context.Context, l *Ledger, _ *v1alpha1.Darkroom, route client.Object) error {
			_, err := l.Rivals(ctx, route)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for failAt, reads := 0, 1; failAt <= reads; failAt++ { // the first time, none fails
				w, _, younger := newPair(t)
				w.reconcile(younger, "done", func() {})
				w.syncRoutes(nil)
				darkroom, route := w.live.darkroom(younger), w.live[idOf(routeOf(younger), younger)]
				done := 0
				fresh := func(in client.Reader) client.Reader { return unsteady{in, &done, failAt} }
				l := w.ledger
				l.Darkrooms, l.Reader, l.Live = fresh(l.Darkrooms), fresh(l.Reader), fresh(l.Live)
				if name == "Judge" || name == "Commit" {
					delete(l.judged, younger) // as of another process
				}
				err := act(t.Context(), l, darkroom, route)
				if failAt == 0 {
					reads = done
				}
				if isFailure := errors.Is(err, errNotNow); isFailure != (failAt > 0) {
					t.Errorf("read %d of %d fails: %v", failAt, reads, err)
				}
			}
		})
	}
}
