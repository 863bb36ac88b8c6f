package wait_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

var errWrong = errors.New("still wrong")

func TestTheWaitEndsWhenNothingIsWrong(t *testing.T) {
	looks := 0
	err := wait.Limits{Timeout: time.Minute, Period: time.Millisecond}.Until(t.Context(), "it is right", func(context.Context) error {
		if looks++; looks < 3 {
			return errWrong
		}
		return nil
	})
	if err != nil || looks != 3 {
		t.Errorf("%d looks, then %v", looks, err)
	}
}

func TestPermanentErrorsEndTheWait(t *testing.T) {
	looks := 0
	err := wait.Limits{Timeout: time.Minute, Period: time.Millisecond}.Until(t.Context(), "it is right", func(context.Context) error {
		looks++
		return wait.Permanent(errWrong)
	})
	if !errors.Is(err, errWrong) || looks != 1 {
		t.Errorf("%d looks, then %v", looks, err)
	}
}

func TestTheErrorIsTheLastOne(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for name, test := range map[string]struct {
		ctx     context.Context
		timeout time.Duration
		says    string
	}{
		"timeout ends":     {t.Context(), time.Millisecond, "still not after 1ms"},
		"the context ends": {ended, time.Minute, context.Canceled.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			err := wait.Limits{Timeout: test.timeout, Period: time.Hour}.Until(test.ctx, "it is right", func(context.Context) error { return errWrong })
			if !errors.Is(err, errWrong) || !strings.Contains(err.Error(), "wait until it is right") || !strings.Contains(err.Error(), test.says) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
