package imageproxy

import (
	"net/http"
	"runtime"
	"strings"
	"testing"
)

func TestARefusalOfKubernetesIsNotTheDarkrooms(t *testing.T) {
	const refusal = `{"kind":"Status","code":403,"reason":"Forbidden","message":"no"}`
	if got := Refusal(http.StatusForbidden, []byte(refusal)); got == nil || got.ErrStatus.Message != "no" {
		t.Errorf("the refusal is %v", got)
	}
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"an image":               {http.StatusOK, refusal},
		"a failure without text": {http.StatusBadGateway, ""},
		"a problem":              {http.StatusBadGateway, `{"title":"Bad Gateway"}`},
	} {
		if got := Refusal(c.status, []byte(c.body)); got != nil {
			t.Errorf("%s is %v", name, got)
		}
	}
}

// Every three bytes of the response would become a cause of 48 bytes.
func TestAResponseOfADarkroomTakesNoMemory(t *testing.T) {
	body := []byte(`{"kind":"Status","details":{"causes":[{}` + strings.Repeat(`,{}`, 2<<20) + `]}}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := Refusal(http.StatusBadGateway, body)
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; got != nil || taken > 8<<20 {
		t.Errorf("%d bytes take %d", len(body), taken)
	}
}
