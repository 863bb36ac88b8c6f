package values

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHostsAreSubDomainsOfTheBaseDomain(t *testing.T) {
	label := strings.Repeat("a", 63)
	for name, test := range map[string]struct {
		baseDomain string
		subDomains []string
		want       []any
	}{
		"base domain by default":      {"", []string{"ajatprabha"}, []any{"ajatprabha.darkroom.example.com"}},
		"base domain of the operator": {"img.example.net", []string{"photos"}, []any{"photos.img.example.net"}},
		"sorted: the order means nothing, and another one must be no upgrade": {"example.net", []string{"c", "a", "b"}, []any{"a.example.net", "b.example.net", "c.example.net"}},
		"several labels":    {"example.net", []string{"img.photos", "photos"}, []any{"img.photos.example.net", "photos.example.net"}},
		"the longest label": {"example.net", []string{label}, []any{label + ".example.net"}},
		"the longest host":  {"example.net", []string{label + "." + label + "." + label + "." + label[:49]}, []any{label + "." + label + "." + label + "." + label[:49] + ".example.net"}},
		"digits and dashes": {"example.net", []string{"2026--photos"}, []any{"2026--photos.example.net"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := at(valuesOf(t, photos().SubDomains(test.subDomains...).Obj(), Options{BaseDomain: test.baseDomain}), "hosts")
			if diff := cmp.Diff(any(test.want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAHostBeyondTheLimitOfDNSIsRefused(t *testing.T) {
	label := strings.Repeat("a", 63)
	expectNamed(t, photos().SubDomains("photos", strings.Join([]string{label, label, label, label[:42]}, ".")),
		map[string]string{"spec.subDomains[1]": "would have 255 characters, and DNS allows 253"})
}
