package charts

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestImageTagOfASemanticVersionHasAV(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for name, test := range map[string]struct{ image, want string }{
		"nothing said: the chart's appVersion":  {`{}`, "gojektech/darkroom:v0.4.2"},
		"without v":                             {`{tag: 0.1.0}`, "gojektech/darkroom:v0.1.0"},
		"with v":                                {`{tag: v0.1.0}`, "gojektech/darkroom:v0.1.0"},
		"pre-release":                           {`{tag: 0.5.0-rc.1}`, "gojektech/darkroom:v0.5.0-rc.1"},
		"build metadata, which no tag can hold": {`{tag: 0.5.0+build.7}`, "gojektech/darkroom:v0.5.0-build.7"},
		"two numbers are no semantic version":   {`{tag: "0.4"}`, "gojektech/darkroom:0.4"},
		"a moving tag":                          {`{tag: latest}`, "gojektech/darkroom:latest"},
		"a commit":                              {`{tag: 0a1b2c3}`, "gojektech/darkroom:0a1b2c3"},
		"digest instead of tag":                 {`{tag: 0.4.2, digest: "` + digest + `"}`, "gojektech/darkroom@" + digest},
		"registry with a port":                  {`{repository: "registry.example.org:5000/a/darkroom"}`, "registry.example.org:5000/a/darkroom:v0.4.2"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := containerOf(t, "image: "+test.image).Image; got != test.want {
				t.Errorf("want %s, got %s", test.want, got)
			}
		})
	}
}

func TestNamesAreAcceptedByKubernetes(t *testing.T) {
	long := strings.Repeat("a", 52)
	for name, test := range map[string]struct{ release, values, want string }{
		"release and chart":                    {"photos", `{}`, "photos-darkroom"},
		"release named like the chart":         {"my-darkroom", `{}`, "my-darkroom"},
		"override":                             {"photos", `{fullnameOverride: holiday}`, "holiday"},
		"override of the chart's name":         {"photos", `{nameOverride: pictures}`, "photos-pictures"},
		"word that YAML takes for a boolean":   {"on", `{fullnameOverride: "on"}`, "on"},
		"release that YAML takes for a number": {"2026", `{}`, "darkroom-2026-darkroom"},
		"dots, which Services do not allow":    {"a.b", `{}`, "a-b-darkroom"},
		"as long as Helm allows":               {long + "b", `{}`, long + "b-darkroom"},
		"as long as a Service allows":          {"photos", `{fullnameOverride: ` + long + `aaaaaaaaaaa}`, long + "aaaaaaaaaaa"},
	} {
		t.Run(name, func(t *testing.T) {
			values := fmt.Sprintf("hosts: [a.example.com]\nsource: {type: S3, bucket: {name: b, region: r}, credentials: {accessKey: a, secretKey: s}}\n%s",
				strings.Trim(test.values, "{}"))
			rendered, err := tryRender(mustLoad(t), test.release, values)
			if err != nil {
				t.Fatal(err)
			}
			decoded := decode(t, rendered)
			if got := only[*appsv1.Deployment](t, decoded).Name; got != test.want {
				t.Errorf("want %s, got %s", test.want, got)
			}
			seen := map[string]bool{}
			for _, service := range all[*corev1.Service](decoded) {
				if problems := validation.IsDNS1035Label(service.Name); len(problems) > 0 {
					t.Errorf("Service %s: %v", service.Name, problems)
				}
				if seen[service.Name] {
					t.Errorf("two Services are named %s", service.Name)
				}
				seen[service.Name] = true
			}
			for _, object := range decoded {
				if problems := validation.IsDNS1123Subdomain(object.GetName()); len(problems) > 0 {
					t.Errorf("%T %s: %v", object, object.GetName(), problems)
				}
			}
		})
	}
}

func TestLongNamesThatBeginAlikeStayApart(t *testing.T) {
	blocked := func(fullname string) string {
		for _, service := range all[*corev1.Service](objectsOf(t, "hosts: [a.example.com]\nfullnameOverride: "+fullname)) {
			if service.Name != fullname {
				return service.Name
			}
		}
		t.Fatal("no second Service")
		return ""
	}
	same := strings.Repeat("a", 60)
	if blocked(same+"b") == blocked(same+"c") {
		t.Errorf("both have a Service %s", blocked(same+"b"))
	}
}
