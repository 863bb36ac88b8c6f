package values

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

var domainsOfTests = []string{
	"{namespace}.img.example.com", "img.example.com", "{namespace}.example.com",
	"example.com", "a.img.example.com",
}

var namespacesOfTests = []string{"a", "b", "img"}

// drawOptions draws options with one or more base domains.
func drawOptions(t *rapid.T, name string) Options {
	domains := rapid.SliceOfNDistinct(rapid.SampledFrom(domainsOfTests), 1, 3, rapid.ID[string]).Draw(t, name)
	return Options{BaseDomains: domains}
}

func drawDarkroom(t *rapid.T, name string) *v1alpha1.Darkroom {
	namespace := rapid.SampledFrom(namespacesOfTests).Draw(t, name+" namespace")
	subDomains := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "x", "x.a", "x.b", "x.a.img", "a.b"}), 1, 3,
		rapid.ID[string]).Draw(t, name+" sub-domains")
	darkroom := darkrooms.New("photos", namespace).SubDomains(subDomains...).
		Annotation(v1alpha1.AnnotationInstallation, "one").Obj()
	darkroom.Spec.BaseDomain = rapid.SampledFrom(append([]string{"", "", "other.example.org"}, domainsOfTests...)).
		Draw(t, name+" base domain")
	return darkroom
}

// routed returns the rendered hosts; none if the Darkroom is rejected.
func routed(t *rapid.T, options Options, darkroom *v1alpha1.Darkroom) (hosts []string, refused bool) {
	translator, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	vals, err := translator.Values(darkroom)
	if err != nil {
		return nil, true
	}
	for _, host := range vals["hosts"].([]any) { //nolint:forcetypeassert // then the test fails
		hosts = append(hosts, host.(string)) //nolint:forcetypeassert // the same
	}
	claimed := translator.Hosts(darkroom)
	slices.Sort(claimed)
	if !slices.Equal(claimed, hosts) {
		t.Errorf("%+v: claims %q, but has %q", options, claimed, hosts)
	}
	return hosts, false
}

func TestAChangeOfTheBaseDomainsMovesNoHostUntilTheDarkroomChanges(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		before, after := drawOptions(t, "before"), drawOptions(t, "after")
		darkroom := drawDarkroom(t, "Darkroom")
		hosts, refused := routed(t, before, darkroom)
		translator, err := New(before)
		if err != nil {
			t.Fatal(err)
		}
		// This is the status that the status controller writes.
		darkroom.Status = v1alpha1.DarkroomStatus{
			ObservedGeneration: darkroom.Generation, Installation: "one",
			BaseDomain: translator.BaseDomain(darkroom),
		}
		if again, _ := routed(t, before, darkroom); !slices.Equal(again, hosts) {
			t.Errorf("%+v: hosts %q become %q once the status is known", before, hosts, again)
		}
		now, refusedNow := routed(t, after, darkroom)
		if !refused && !refusedNow && !slices.Equal(now, hosts) {
			t.Errorf("%+v → %+v: hosts move from %q to %q", before, after, hosts, now)
		}
		// If the spec is changed or another installation takes over, the base domain is chosen again.
		moved := darkroom.DeepCopy()
		moved.Generation++
		taken := darkroom.DeepCopy()
		taken.Annotations[v1alpha1.AnnotationInstallation] = "two"
		fresh := darkroom.DeepCopy()
		fresh.Status = v1alpha1.DarkroomStatus{}
		want, wantRefused := routed(t, after, fresh)
		for name, changed := range map[string]*v1alpha1.Darkroom{"another spec": moved, "another installation": taken} {
			if got, refused := routed(t, after, changed); refused != wantRefused || !slices.Equal(got, want) {
				t.Errorf("%+v: %s: hosts are %q (refused: %t), want %q (refused: %t)", after, name, got, refused, want, wantRefused)
			}
		}
	})
}

// If each namespace has a domain, the hosts below it are reserved for its Darkrooms, and all others are free.
func TestOnlyHostsBelowTheDomainOfAnotherNamespaceAreRefused(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		options, darkroom := drawOptions(t, "options"), drawDarkroom(t, "Darkroom")
		translator, err := New(options)
		if err != nil {
			t.Fatal(err)
		}
		domain := translator.BaseDomain(darkroom)
		if domain == "" {
			t.Skip("it is not offered")
		}
		var want []string
		refused := false
		for _, subDomain := range darkroom.Spec.SubDomains {
			host := subDomain + "." + domain
			isOfAnother := slices.ContainsFunc(options.BaseDomains, func(offered string) bool {
				return slices.ContainsFunc(namespacesOfTests, func(namespace string) bool {
					return offered != inNamespace(offered, namespace) && namespace != darkroom.Namespace &&
						strings.HasSuffix(host, "."+inNamespace(offered, namespace))
				})
			})
			if refused = refused || isOfAnother; !isOfAnother {
				want = append(want, host)
			}
		}
		if got := translator.Hosts(darkroom); !slices.Equal(got, want) {
			t.Errorf("%+v: the hosts are %q, want %q", options, got, want)
		}
		if _, err := translator.Values(darkroom); (err != nil) != refused {
			t.Errorf("%+v: %q are refused: %v", options, darkroom.Spec.SubDomains, err)
		}
	})
}

func TestABaseDomainThatIsNotOfferedIsRefusedWithThoseThatAre(t *testing.T) {
	options := Options{BaseDomains: []string{"{namespace}.img.example.com", "cdn.example.com"}}
	translator, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	darkroom := darkrooms.New("photos", "shop").Obj()
	darkroom.Spec.BaseDomain = "example.org"
	_, err = translator.Values(darkroom)
	if want := "choose one of shop.img.example.com, cdn.example.com"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
