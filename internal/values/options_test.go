package values

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOptionsThatEveryDarkroomWouldSufferFromAreRefused(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0", 64)
	for name, test := range map[string]struct {
		options Options
		want    string // empty: accepted
	}{
		"none at all":                {Options{}, ""},
		"all of them":                {Options{BaseDomain: "img.example.net", IngressClassName: "nginx", Image: "darkroom:v0.4.2"}, ""},
		"image with everything":      {Options{Image: "registry.example.com:5000/team/darkroom:v0.4.2@" + digest}, ""},
		"a proxy":                    {Options{Proxy: Proxy{HTTPS: "http://proxy.example.com:3128", No: ".cluster.local"}}, ""},
		"a proxy with a password":    {Options{Proxy: Proxy{HTTPS: "http://user:secret@proxy.example.com"}}, "set HTTPS_PROXY in the Darkrooms' extraEnvFrom"},
		"a pull secret":              {Options{ImagePullSecrets: []string{"mirror.example.com"}}, ""},
		"a pull secret with a slash": {Options{ImagePullSecrets: []string{"team/mirror"}}, `image pull secret "team/mirror": must be the name of a Secret`},
		"base domain with a scheme":  {Options{BaseDomain: "https://example.com"}, `base domain "https://example.com": must be a DNS name such as darkroom.example.com`},
		"base domain with a dot":     {Options{BaseDomain: ".example.com"}, "must be a DNS name"},
		"base domain with capitals":  {Options{BaseDomain: "Example.com"}, "must be a DNS name"},
		"ingress class with a space": {Options{IngressClassName: "my class"}, `ingress class "my class": must be the name of an IngressClass`},
		"image with a space":         {Options{Image: "darkroom: v1"}, "must be an image reference without spaces"},
		"image with a line break":    {Options{Image: "darkroom:v1\n"}, "must be an image reference without spaces"},
		"base domain with a label beyond DNS": {
			Options{BaseDomain: strings.Repeat("a", 64) + ".example.com"},
			"must be a DNS name",
		},
		"image with a scheme": {
			Options{Image: "docker://darkroom:v1"},
			"must be an image reference",
		},
		"image with a short digest": {
			Options{Image: "darkroom@sha256:00"},
			"must be an image reference",
		},
		"image without a repository": {
			Options{Image: ":v1"},
			"must be an image reference",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.options.Validate()
			if _, newErr := New(test.options); (newErr == nil) != (err == nil) {
				t.Errorf("New says %v, Validate %v", newErr, err)
			}
			switch {
			case test.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("want %q in: %v", test.want, err)
			}
		})
	}
}

func TestTheProxyOfTheOperatorIsPassedOnWithoutCredentials(t *testing.T) {
	variables := map[string]string{
		"HTTP_PROXY":  "user:secret@proxy.example.com:3128",
		"HTTPS_PROXY": "http://proxy.example.com:3128",
		"NO_PROXY":    ".cluster.local,.svc",
	}
	proxy, left := ProxyOf(func(name string) string { return variables[name] })
	if want := (Proxy{HTTPS: "http://proxy.example.com:3128", No: ".cluster.local,.svc"}); proxy != want {
		t.Errorf("got %+v, want %+v", proxy, want)
	}
	if !slices.Equal(left, []string{"HTTP_PROXY"}) {
		t.Errorf("left out are %q", left)
	}
	translator, err := New(Options{Proxy: proxy})
	if err != nil {
		t.Fatal(err)
	}
	values, err := translator.Values(photos().Obj())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"httpsProxy": "http://proxy.example.com:3128", "noProxy": ".cluster.local,.svc"}
	if diff := cmp.Diff(want, values["proxy"]); diff != "" {
		t.Errorf("values of the chart (-want +got):\n%s", diff)
	}
}
