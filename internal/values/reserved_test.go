package values

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

// A Darkroom is rejected if and only if one of its hosts is on the list, and the error names each rejected sub-domain.
func TestNoDarkroomHasAReservedHost(t *testing.T) {
	label := rapid.SampledFrom([]string{"a", "b", "ab", "www"})
	name := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(label, 1, 3).Draw(t, "labels"), ".")
	})
	property.Check(t, func(t *rapid.T) {
		domain := rapid.SampledFrom([]string{"example.com", "b.example.com"}).Draw(t, "domain")
		var reserved []string
		for _, host := range rapid.SliceOfN(name, 0, 3).Draw(t, "reserved") {
			reserved = append(reserved, rapid.SampledFrom([]string{"", "*."}).Draw(t, "below")+host+".example.com")
		}
		subDomains := rapid.SliceOfNDistinct(name, 1, 3, rapid.ID[string]).Draw(t, "subDomains")
		translator, err := New(Options{BaseDomains: []string{domain}, ReservedHosts: reserved})
		if err != nil {
			t.Fatal(err)
		}
		_, err = translator.Values(photos().SubDomains(subDomains...).Obj())
		for i, subDomain := range subDomains {
			labels := strings.Split(subDomain+"."+domain, ".")
			want := slices.Contains(reserved, strings.Join(labels, "."))
			for above := 1; above < len(labels); above++ {
				want = want || slices.Contains(reserved, "*."+strings.Join(labels[above:], "."))
			}
			got := err != nil && strings.Contains(err.Error(), "spec.subDomains["+string(rune('0'+i))+"]: Forbidden")
			if want != got {
				t.Errorf("%s of %s with %q reserved: refused %v, want %v: %v", subDomain, domain, reserved, got, want, err)
			}
		}
	})
}
