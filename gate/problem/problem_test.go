package problem

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestAnyOtherErrorIsInternal(t *testing.T) {
	secret := errors.New("key=secret")
	p := Of(secret)
	if p.Kind != Internal || strings.Contains(p.Detail, "secret") || !errors.Is(p, secret) {
		t.Errorf("%+v", p)
	}
	if text := New(Missing, "no image").Error(); text != "no image" {
		t.Errorf("%q", text)
	}
}

func TestAWrappedProblemKeepsItsKind(t *testing.T) {
	err := fmt.Errorf("serve: %w", New(Missing, "no image").Because(errors.New("the cause")))
	if !Is(err, Busy, Missing) || Is(err, Busy) || Is(nil, Internal) || !strings.Contains(err.Error(), "the cause") {
		t.Errorf("%s, want %s", Of(err).Kind, Missing)
	}
}
