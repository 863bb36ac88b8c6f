package share

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/property"
)

// In any order of requests, departures and completions, a value is created only once while it is in use, is the same
// for all callers, and is dropped once, after its last use.
func TestAValueIsMadeOnceAndDroppedWhenNobodyHoldsIt(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
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
			var mu sync.Mutex // guards the counts
			group := Group[string, int]{Drop: func(value int) {
				mu.Lock()
				defer mu.Unlock()
				if dropped[value] {
					rt.Errorf("value %d is dropped twice", value)
				}
				dropped[value] = true
			}}
			create := func(ctx context.Context) (int, error) {
				mu.Lock()
				made++
				value := made
				making++
				mu.Unlock()
				var err error
				select {
				case <-ctx.Done():
					err = ctx.Err()
				case <-time.After(takes):
				}
				mu.Lock()
				defer mu.Unlock()
				making--
				if err != nil {
					return 0, err
				}
				if making > 0 {
					rt.Errorf("%d values are made at a time", making+1)
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
					value, _, done, err := group.Do(ctx, "a", create)
					if err != nil {
						done()
						return
					}
					time.Sleep(v.stays)
					mu.Lock()
					if dropped[value] {
						rt.Errorf("value %d is dropped while it is held", value)
					}
					mu.Unlock()
					done()
					done()
				}()
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			group.mu.Lock()
			defer group.mu.Unlock()
			if !fails && made > 0 && len(group.runs) != 0 {
				rt.Errorf("%d runs are left", len(group.runs))
			}
		})
	})
}

func TestAValueIsSharedByAllWhoWaitOrCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made, dropped, firsts atomic.Int64
		group := Group[string, int]{Drop: func(int) { dropped.Add(1) }}
		create := func(context.Context) (int, error) { time.Sleep(time.Second); return int(made.Add(1)), nil }
		for i := range 3 {
			go func() {
				time.Sleep(time.Duration(i) * 900 * time.Millisecond)
				value, first, done, err := group.Do(t.Context(), "a", create)
				if first {
					firsts.Add(1)
				}
				if err != nil || value != 1 {
					t.Errorf("%d %v", value, err)
				}
				time.Sleep(time.Second)
				done()
			}()
		}
		time.Sleep(time.Minute)
		if made.Load() != 1 || dropped.Load() != 1 || firsts.Load() != 1 {
			t.Errorf("made %d times, by %d, dropped %d times", made.Load(), firsts.Load(), dropped.Load())
		}
	})
}

func TestWhoTriesAgainAfterAFailureDoesNotGetTheSameOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int64
		var group Group[string, int]
		create := func(context.Context) (int, error) {
			time.Sleep(time.Second)
			if made.Add(1) == 1 {
				return 0, errors.New("failed")
			}
			return 2, nil
		}
		for range 8 {
			go func() {
				_, _, _, err := group.Do(t.Context(), "a", create)
				if err == nil {
					t.Error("it did not fail")
				}
				value, _, done, err := group.Do(t.Context(), "a", create)
				if err != nil || value != 2 {
					t.Errorf("%d %v", value, err)
				}
				done()
			}()
		}
		time.Sleep(time.Minute)
		if made.Load() != 2 {
			t.Errorf("made %d times", made.Load())
		}
	})
}
