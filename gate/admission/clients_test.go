package admission

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// Whoever joins shared work and leaves it: the order is that of work which they have never joined, and so is
// that of what they ask for afterwards.
func TestAClientThatHasLeftDecidesNothing(t *testing.T) {
	type step struct {
		asks   bool
		client string
		at     int // the work that is joined
		leaves bool
	}
	admitted := func(t *testing.T, steps []step, noise bool) (order []string) {
		synctest.Test(t, func(t *testing.T) {
			q := New(1, 100, 0)
			release, _ := q.Acquire(t.Context(), 1)
			var joins []func(context.Context) func()
			var leave []func()
			leaveAll := func() {
				for _, left := range leave {
					left()
				}
				leave = nil
			}
			for _, s := range steps {
				switch {
				case s.asks:
					shared, join := Share(t.Context())
					join(For(t.Context(), s.client))
					name := fmt.Sprint(s.client, len(joins))
					joins = append(joins, join)
					go func() {
						done, err := q.Acquire(shared, 1)
						if err != nil {
							t.Error(err)
							return
						}
						order = append(order, name)
						done(0)
					}()
				case len(joins) > 0 && (noise || !s.leaves):
					if !s.leaves { // who joins again without having left has waited since the first time
						leaveAll()
					}
					left := joins[s.at%len(joins)](For(t.Context(), s.client))
					if s.leaves && s.at%2 == 0 {
						left()
					} else if s.leaves {
						leave = append(leave, left)
					}
				}
				synctest.Wait()
			}
			leaveAll()
			release(0)
			synctest.Wait()
			if used, waiting := q.Load(); used != 0 || waiting != 0 || len(q.clients) != 0 {
				t.Errorf("%d used, %d waiting, %d clients", used, waiting, len(q.clients))
			}
		})
		return order
	}
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{
				asks: rapid.Bool().Draw(rt, "asks"), client: rapid.StringMatching("[a-d]").Draw(rt, "client"),
				at: rapid.IntRange(0, 20).Draw(rt, "at"), leaves: rapid.Bool().Draw(rt, "leaves"),
			}
		}), 1, 20).Draw(rt, "steps")
		if got, want := admitted(t, steps, true), admitted(t, steps, false); !slices.Equal(got, want) {
			rt.Errorf("admitted %v, want %v", got, want)
		}
	})
}
