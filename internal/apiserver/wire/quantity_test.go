package wire_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// TestQuantitiesThatAreAcceptedTakeNoTime tries many exponents: the library of Kubernetes computes with all their
// digits.
func TestQuantitiesThatAreAcceptedTakeNoTime(t *testing.T) {
	decoder := wire.NewDecoder()
	accepted := 0
	for _, mantissa := range []string{"1", "-1", "+.5", "1.5", "0", "999999999999999999999"} {
		for _, suffix := range []string{
			"", "Mi", "m", "E", "e3", "E+9", "e-9", "e99", "e-99", "e100", "e-100", "e999", "e000000099", "e99999999",
			"e999999999", "e2147483647", "e2147483648", "e-2147483648", "e-999999999", "e9.5", "e.5",
		} {
			for _, format := range []string{`"%s"`, `%s`} {
				value := fmt.Sprintf(format, mantissa+suffix)
				took := make(chan error, 1)
				go func() {
					input, err := decoder.Decode(fmt.Appendf(nil,
						`{"source":{"baseUrl":"https://e.com"},"subDomains":["a"],"resources":{"limits":{"memory":%s}}}`, value), nil)
					if err == nil {
						limit := input.Resources.Limits["memory"]
						_, _, _ = limit.Cmp(resource.MustParse("1Gi")), limit.String(), limit.Value()
					}
					took <- err
				}()
				select {
				case err := <-took:
					if err == nil {
						accepted++
					}
				case <-time.After(wait.Patience):
					t.Fatalf("%s takes minutes", value)
				}
			}
		}
	}
	if accepted < 30 {
		t.Errorf("%d quantities are accepted", accepted)
	}
}
