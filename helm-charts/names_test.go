package charts

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

func TestImageTagOfASemanticVersionHasAV(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for name, test := range map[string]struct{ image, want string }{
		"nothing said: the chart's appVersion": {`{}`, "gojektech/darkroom:v0.4.2"},
		"without v":                            {`{tag: 0.1.0}`, "gojektech/darkroom:v0.1.0"},
		"pre-release":                          {`{tag: 0.5.0-rc.1}`, "gojektech/darkroom:v0.5.0-rc.1"},
		"build metadata, not in tags":          {`{tag: 0.5.0+build.7}`, "gojektech/darkroom:v0.5.0-build.7"},
		"a moving tag":                         {`{tag: latest}`, "gojektech/darkroom:latest"},
		"digest instead of tag":                {`{tag: 0.4.2, digest: "` + digest + `"}`, "gojektech/darkroom@" + digest},
		"registry with a port": {
			`{repository: "registry.example.org:5000/a/darkroom"}`,
			"registry.example.org:5000/a/darkroom:v0.4.2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := containerOf(t, "image: "+test.image).Image; got != test.want {
				t.Errorf("want %s, got %s", test.want, got)
			}
		})
	}
}

// Names that are derived from one another or truncated at the same position.
func alike(names *rand.Rand) []string {
	long := strings.Repeat("a", 53)
	found := []string{
		"photos", "photos-blocked", "photos-darkroom", "photos-darkroom-blocked", "photos-credentials",
		"photos-test-ping", "photos-test",
		"darkroom", "darkroom-darkroom", "darkroom-photos", "darkroom-photos-darkroom", "blocked", "blocked-blocked", "a",
		"a--", "a-a", "a--blocked",
		long, long[:52], long[:52] + "b", long[:44] + "-darkroom", long[:44], long[:45] + "-blocked", long[:45],
		long[:43] + "-test-ping", long[:43], long[:16], long[:16] + "-blocked",
	}
	for range 20 {
		name := found[names.IntN(len(found))]
		parts := []string{
			"-blocked", "-darkroom", "-credentials", "-test-ping", "-a", "a", "0", "-0123456789",
			fmt.Sprintf("-%x", sha256.Sum256([]byte(name)))[:names.IntN(20)+2],
		}
		name += parts[names.IntN(len(parts))]
		if len(name) <= 53 {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return slices.DeleteFunc(slices.Compact(found),
		func(name string) bool { return len(validation.IsDNS1035Label(name)) > 0 })
}

// TestNoTwoNamesShareAnObject renders Darkrooms and plain releases with all kinds of names in one namespace. No two of
// them share an object, and Kubernetes accepts all names.
func TestNoTwoNamesShareAnObject(t *testing.T) {
	const everything = `
hosts: [a.example.com]
source: {type: S3, bucket: {name: b, region: r}, credentials: {accessKey: a, secretKey: s}}
autoscaling: {enabled: true}
networkPolicy: {enabled: true}
metrics: {enabled: true, serviceMonitor: {enabled: true}}
`
	seed := uint64(time.Now().UnixNano())
	darkrooms := alike(rand.New(rand.NewPCG(seed, 0)))
	releases := append(slices.Clone(darkrooms), "on", "2026", "2026-darkroom", "darkroom-2026", "darkroom-2026-darkroom",
		"a.b", "a-b", "a.b-darkroom", "a-b-darkroom", "darkroom-a-b")
	for way, test := range map[string]struct {
		names  []string
		values func(name string) string
	}{
		"operator, Ingress": {
			darkrooms,
			func(name string) string { return everything + "fullnameOverride: " + strconv.Quote(name) },
		},
		"operator, HTTPRoute": {darkrooms, func(name string) string {
			return everything + "gateway: {enabled: true, parentRefs: [{name: g}]}\nfullnameOverride: " + strconv.Quote(name)
		}},
		"helm install, Ingress": {releases, func(string) string { return everything }},
		"helm install, HTTPRoute": {
			releases,
			func(string) string { return everything + "gateway: {enabled: true, parentRefs: [{name: g}]}" },
		},
	} {
		t.Run(way, func(t *testing.T) {
			chart := mustLoad(t)
			owners := map[string]string{}
			for _, name := range test.names {
				rendered, err := tryRender(chart, name, test.values(name))
				expect.NoError(t, err)
				decoded := decode(t, rendered)
				if len(decoded) < 10 {
					t.Fatalf("only %d objects", len(decoded))
				}
				for _, object := range decoded {
					id := fmt.Sprintf("%T %s", object, object.GetName())
					if owner, taken := owners[id]; taken {
						t.Errorf("seed %d: %s belongs to %q and to %q", seed, id, owner, name)
					}
					owners[id] = name
					problems := validation.IsDNS1123Subdomain(object.GetName())
					if service, ok := object.(*corev1.Service); ok {
						problems = validation.IsDNS1035Label(service.Name)
					}
					if len(problems) > 0 {
						t.Errorf("seed %d: %s of %q: %v", seed, id, name, problems)
					}
				}
			}
		})
	}
}
