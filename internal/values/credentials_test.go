package values

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// Canaries that are told from all else that is rendered.
const (
	canaryAccess = "CANARYACCESSKEY00001"
	canarySecret = "canary/Secret+key~00002"
	canaryName   = "canary-name-00003"
	canaryID     = "canary-id-00004"
	canaryKey    = "canary-key-00005"
	canaryJSON   = "canary-json-00006"
)

func TestNoCredentialReachesAnythingButASecret(t *testing.T) {
	canaryRef := func(darkroom *darkrooms.Builder) *darkrooms.Builder {
		return darkroom.Spec(func(spec *v1alpha1.DarkroomSpec) {
			spec.Source.CredentialsSecretRef = &v1alpha1.CredentialsSecretRef{
				Name: canaryName, AccessKeyKey: canaryID, SecretKeyKey: canaryKey, CredentialsJSONKey: canaryJSON,
			}
		})
	}
	for name, test := range map[string]struct {
		darkroom *darkrooms.Builder
		secret   bool
	}{
		"S3 with inline keys and everything else": {everywhere().S3("pictures", "r").Endpoint("https://minio").PathPrefix("/p").InlineKeys(canaryAccess, canarySecret), true},
		"S3 with a Secret":                        {canaryRef(photos().S3("pictures", "r")), false},
		// A resource can be switched back and forth.
		"WebFolder beside keys of S3":               {photos().InlineKeys(canaryAccess, canarySecret), false},
		"Google Cloud Storage with a Secret":        {canaryRef(photos().GoogleCloudStorage("pictures")), false},
		"Google Cloud Storage beside both":          {canaryRef(photos().GoogleCloudStorage("pictures").InlineKeys(canaryAccess, canarySecret)), false},
		"CloudFront beside keys of S3 and a Secret": {canaryRef(photos().CloudFront("d1.cloudfront.net").InlineKeys(canaryAccess, canarySecret)), false},
	} {
		t.Run(name, func(t *testing.T) {
			held := false
			for _, object := range render(t, test.darkroom.Obj(), Options{}) {
				raw, err := json.Marshal(object)
				if err != nil {
					t.Fatal(err)
				}
				if _, isSecret := object.(*corev1.Secret); isSecret {
					held = strings.Contains(string(raw), base64.StdEncoding.EncodeToString([]byte(canarySecret)))
					continue
				}
				for _, credential := range []string{canaryAccess, canarySecret} {
					for _, form := range forms(credential) {
						if strings.Contains(string(raw), form) {
							t.Errorf("%T %s shows %s:\n%s", object, object.GetName(), form, raw)
						}
					}
				}
				// The names of a Secret and its keys are not secret, but appear only where they are used.
				if _, isConfig := object.(*corev1.ConfigMap); isConfig && strings.Contains(string(raw), "canary") {
					t.Errorf("the ConfigMap names the Secret or its keys:\n%s", raw)
				}
			}
			if held != test.secret {
				t.Errorf("want the credentials in a Secret: %t, they are: %t", test.secret, held)
			}
		})
	}
}

// everywhere has all that is rendered for some Darkrooms only.
func everywhere() *darkrooms.Builder {
	return photos().Autoscaling(2, 5).Spec(func(spec *v1alpha1.DarkroomSpec) {
		spec.NetworkPolicy = &v1alpha1.NetworkPolicy{Enabled: true}
		spec.Metrics = &v1alpha1.Metrics{Enabled: true, ServiceMonitor: true}
	})
}

// forms are a credential as it is, and in base64 wherever it begins in a longer text.
func forms(credential string) []string {
	out := []string{credential}
	for shift := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat(" ", shift) + credential))
		// The first and the last characters depend on what stands around.
		out = append(out, encoded[(shift*8+5)/6:len(encoded)-2])
	}
	return out
}

func TestRedact(t *testing.T) {
	for name, test := range map[string]struct {
		accessKey, secretKey, variable string
		message, want                  string
	}{
		"nothing to hide":            {message: "Secret photos is refused", want: "Secret photos is refused"},
		"both, wherever they are":    {accessKey: "AKIAEXAMPLE", secretKey: "a-key", message: "a-key: bad, AKIAEXAMPLE: bad, a-key", want: "[redacted]: bad, [redacted]: bad, [redacted]"},
		"part of the other":          {accessKey: "abc", secretKey: "abcdef", message: "abcdef abc", want: "[redacted] [redacted]"},
		"part of the mark":           {accessKey: "redacted", secretKey: "a-key", message: "redacted, a-key", want: "[redacted], [redacted]"},
		"one letter":                 {accessKey: "e", message: `release: key "e" is refused`, want: `release: key "[redacted]" is refused`},
		"an empty one hides nothing": {accessKey: "AKIAEXAMPLE", message: "AKIAEXAMPLE: bad", want: "[redacted]: bad"},
		"a variable":                 {variable: "hunter22", message: `env[0].value: "hunter22x"`, want: `env[0].value: "[redacted]x"`},
		"a short variable":           {variable: "port", message: "port: supported, port", want: "[redacted]: supported, [redacted]"},
		"a trivial word":             {variable: "true", message: "true or false", want: "true or false"},
		"a number":                   {variable: "30000", message: "at most 30000", want: "at most 30000"},
		"a duration":                 {variable: "1m30s", message: "after 1m30s", want: "after 1m30s"},
		"too short a variable":       {variable: "abc", message: "abc", want: "abc"},
		"the Darkroom's name":        {variable: "photos", message: `Darkroom "photos"`, want: `Darkroom "photos"`},
		"a log level":                {variable: "DEBUG", message: "DEBUG", want: "DEBUG"},
		"a line of a longer one":     {variable: "-----BEGIN\nMIIEvQIBADANBg\n", message: "  value: |\n    -----BEGIN\n    MIIEvQIBADANBg", want: "  value: |\n    [redacted]\n    [redacted]"},
	} {
		t.Run(name, func(t *testing.T) {
			darkroom := photos().InlineKeys(test.accessKey, test.secretKey).Env("ANY", test.variable).Obj()
			if got := Redact(darkroom, test.message); got != test.want {
				t.Errorf("want %q, got %q", test.want, got)
			}
		})
	}
}

// API servers and libraries print what they refuse in forms of their own.
func TestRedactFindsEveryForm(t *testing.T) {
	for _, secret := range []string{
		canaryAccess, canarySecret, `quote"back\slash<tag>&`, "it's a pass phrase", "tab\tand é", "10 %/+=?#@:", "4byt", "!ive+",
	} {
		asJSON := func(text string) string {
			quoted, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			return string(quoted[1 : len(quoted)-1])
		}
		quoted := strconv.Quote(secret)
		for form, text := range map[string]string{
			"as it is":        secret,
			"quoted":          quoted[1 : len(quoted)-1],
			"in JSON":         asJSON(secret),
			"in JSON in JSON": asJSON(asJSON(secret)),
			"in a URL query":  url.QueryEscape(secret),
			"in a URL path":   url.PathEscape(secret),
			"in a URL":        url.UserPassword("", secret).String()[1:],
			"base64":          base64.RawStdEncoding.EncodeToString([]byte(secret)),
		} {
			for _, darkroom := range []*v1alpha1.Darkroom{
				photos().InlineKeys("", secret).Obj(), photos().InlineKeys(secret, "").Obj(), photos().Env("ANY", secret).Obj(),
			} {
				if got := Redact(darkroom, `refused: "`+text+`==", more`); got != `refused: "[redacted]==", more` {
					t.Errorf("%q %s: %q became %q", secret, form, text, got)
				}
			}
		}
	}
}
