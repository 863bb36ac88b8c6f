package pipeline

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

func TestAPanicIsAnErrorWithItsStack(t *testing.T) {
	p := newPipeline(func(context.Context, source.Request) (*source.Response, error) { panic("secret") })
	_, _, err := p.Get(t.Context(), "a", request.Request{Path: "/a.png"})
	failure := problem.Of(err)
	if failure.Kind != problem.Internal || strings.Contains(failure.Detail, "secret") ||
		!strings.Contains(fmt.Sprint(err), "secret") || !strings.Contains(fmt.Sprint(err), "panic_test.go") {
		t.Errorf("%s %v", failure.Kind, err)
	}
}
