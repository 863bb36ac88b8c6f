package flight

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestRequestsOfOneKeyShareACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var group Group[int]
		calls, finish := 0, make(chan struct{})
		results := make(chan int, 200)
		for range 200 {
			go func() {
				value, _, _ := group.Do(t.Context(), "k", func(context.Context) (int, error) {
					calls++
					<-finish
					return 7, nil
				})
				results <- value
			}()
		}
		synctest.Wait()
		close(finish)
		for range 200 {
			if got := <-results; got != 7 {
				t.Fatalf("got %d", got)
			}
		}
		if calls != 1 {
			t.Errorf("%d calls", calls)
		}
	})
}

func TestTheCallIsCanceledWhenAllHaveLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var group Group[int]
		ctx, leave := context.WithCancel(t.Context())
		canceled := false
		wait := func(ctx context.Context) (int, error) {
			<-ctx.Done()
			canceled = true
			return 0, ctx.Err()
		}
		other, leaveOther := context.WithCancel(t.Context())
		go func() { _, _, _ = group.Do(ctx, "k", wait) }()
		synctest.Wait()
		go func() { _, _, _ = group.Do(other, "k", wait) }()
		synctest.Wait()
		leave()
		synctest.Wait()
		if canceled {
			t.Error("canceled while one waits")
		}
		leaveOther()
		synctest.Wait()
		if !canceled || len(group.calls) != 0 {
			t.Errorf("canceled %v, calls %v", canceled, group.calls)
		}
	})
}

func TestARequestDoesNotInheritTheCancellationOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var group Group[int]
		ctx, leave := context.WithCancel(t.Context())
		held := make(chan struct{})
		go func() {
			_, _, _ = group.Do(ctx, "k", func(ctx context.Context) (int, error) {
				<-ctx.Done()
				<-held // it takes a while to stop
				return 0, ctx.Err()
			})
		}()
		synctest.Wait()
		leave()
		synctest.Wait()
		var value int
		var err error
		go func() {
			value, _, err = group.Do(t.Context(), "k", func(context.Context) (int, error) { return 7, nil })
		}()
		synctest.Wait()
		close(held)
		synctest.Wait()
		if value != 7 || err != nil {
			t.Errorf("%d, %v", value, err)
		}
	})
}

func TestAPanicIsAnErrorForAll(t *testing.T) {
	var group Group[int]
	if _, _, err := group.Do(t.Context(), "k", func(context.Context) (int, error) { panic("x") }); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
