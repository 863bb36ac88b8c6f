package values

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
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

func TestInvalidSubDomainsAreRefused(t *testing.T) {
	label := strings.Repeat("a", 63)
	first := "spec.subDomains[0]"
	cases := refusals{
		"none": {photos().SubDomains(), map[string]string{"spec.subDomains": "at least one"}},
		"the same twice": {
			photos().SubDomains("photos", "img", "photos"),
			map[string]string{"spec.subDomains[2]": "Duplicate"},
		},
		"only the wrong ones are named": {
			photos().SubDomains("photos", "Photos", "img", "my photos"),
			map[string]string{"spec.subDomains[1]": "must be a DNS name", "spec.subDomains[3]": "must be a DNS name"},
		},
		"too long with the base domain": {
			photos().SubDomains(strings.Join([]string{label, label, label, label[:42]}, ".")),
			map[string]string{first: "would have 255 characters, and DNS allows 253"},
		},
	}
	for name, subDomain := range map[string]string{
		"empty": "", "a capital letter": "Photos", "a wildcard": "*", "an underscore": "my_photos", "a dot first": ".photos",
		"a dot last": "photos.", "an empty label": "a..b", "a dash first": "-a", "a dash last": "a-", "a line break": "photos\n",
		"a scheme": "https://photos", "a label beyond DNS": label + "a", "a letter beyond ASCII": "bücher",
	} {
		cases[name] = struct {
			darkroom *darkrooms.Builder
			want     map[string]string
		}{photos().SubDomains(subDomain), map[string]string{first: fmt.Sprintf("%q: must be a DNS name", subDomain)}}
	}
	cases.check(t)
}
