package share

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// Whatever the order in which requests come, leave and finish: a value is made once while it is
// waited for or held, is the same for all, is dropped once, and never while it is held.
func TestAValueIsMadeOnceAndDroppedWhenNobodyHoldsIt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type visit struct{ arrives, stays, patience time.Duration }
		moments := rapid.IntRange(0, 20)
		visits := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) visit {
			at := func(name string) time.Duration { return time.Duration(moments.Draw(rt, name)) * time.Second }
			return visit{at("arrives"), at("stays"), at("patience") + time.Millisecond}
		}), 1, 8).Draw(rt, "visits")
		takes := time.Duration(moments.Draw(rt, "takes"))*time.Second + 500*time.Millisecond
		fails := rapid.Bool().Draw(rt, "fails")
		synctest.Test(t, func(*testing.T) {
			made, dropped, making := 0, map[int]bool{}, 0
			group := Group[string, int]{Drop: func(value int) {
				if dropped[value] {
					rt.Errorf("value %d is dropped twice", value)
				}
				dropped[value] = true
			}}
			create := func(ctx context.Context) (int, error) {
				made++
				value := made
				making++
				defer func() { making-- }()
				select {
				case <-ctx.Done():
					return 0, ctx.Err()
				case <-time.After(takes):
				}
				if making > 1 {
					rt.Errorf("%d values are made at a time", making)
				}
				if fails {
					return 0, errors.New("failed")
				}
				return value, nil
			}
			for _, v := range visits {
				go func() {
					time.Sleep(v.arrives)
					ctx, cancel := context.WithTimeout(context.Background(), v.patience)
					defer cancel()
					value, _, done, err := group.Hold(ctx, "a", create)
					if err != nil {
						done()
						return
					}
					time.Sleep(v.stays)
					if dropped[value] {
						rt.Errorf("value %d is dropped while it is held", value)
					}
					done()
					done()
				}()
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if !fails && made > 0 && len(group.runs) != 0 {
				rt.Errorf("%d runs are left", len(group.runs))
			}
		})
	})
}

func TestAValueIsSharedByAllWhoWaitOrCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made, dropped := 0, 0
		group := Group[string, int]{Drop: func(int) { dropped++ }}
		create := func(context.Context) (int, error) { made++; time.Sleep(time.Second); return made, nil }
		var firsts int
		for i := range 3 {
			go func() {
				time.Sleep(time.Duration(i) * 900 * time.Millisecond)
				value, first, done, err := group.Hold(t.Context(), "a", create)
				if first {
					firsts++
				}
				if err != nil || value != 1 {
					t.Errorf("%d %v", value, err)
				}
				time.Sleep(time.Second)
				done()
			}()
		}
		time.Sleep(time.Minute)
		if made != 1 || dropped != 1 || firsts != 1 {
			t.Errorf("made %d times, by %d, dropped %d times", made, firsts, dropped)
		}
	})
}
