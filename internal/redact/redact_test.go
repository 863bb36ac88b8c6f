package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

func photos() *darkrooms.Builder { return darkrooms.New("photos", "team-a") }

func TestAMessageIsWithoutSecrets(t *testing.T) {
	for name, test := range map[string]struct {
		accessKey, secretKey, variable string
		message, want                  string
	}{
		"nothing to hide": {message: "Secret photos is refused", want: "Secret photos is refused"},
		"both, wherever they are": {
			accessKey: "AKIAEXAMPLE", secretKey: "a-key",
			message: "a-key: bad, AKIAEXAMPLE: bad, a-key", want: "REDACTED: bad, REDACTED: bad, REDACTED",
		},
		"part of the other": {
			accessKey: "abc", secretKey: "abcdef", message: "abcdef abc",
			want: "REDACTED REDACTED",
		},
		"part of the mark": {
			accessKey: "REDACTED", secretKey: "a-key", message: "REDACTED, a-key",
			want: "REDACTED, REDACTED",
		},
		"one letter": {
			accessKey: "e", message: `release: key "e" is refused`,
			want: `release: key "REDACTED" is refused`,
		},
		"an empty one hides nothing": {accessKey: "AKIAEXAMPLE", message: "AKIAEXAMPLE: bad", want: "REDACTED: bad"},
		"a variable": {
			variable: "hunter22", message: `env[0].value: "hunter22x"`,
			want: `env[0].value: "REDACTEDx"`,
		},
		"a short variable":      {variable: "port", message: "port: supported, port", want: "REDACTED: supported, REDACTED"},
		"a trivial word":        {variable: "true", message: "true or false", want: "true or false"},
		"a number":              {variable: "30000", message: "at most 30000", want: "at most 30000"},
		"a duration":            {variable: "1m30s", message: "after 1m30s", want: "after 1m30s"},
		"too short a variable":  {variable: "abc", message: "abc", want: "abc"},
		"the Darkroom's name":   {variable: "photos", message: `Darkroom "photos"`, want: `Darkroom "photos"`},
		"a log level":           {variable: "DEBUG", message: "DEBUG", want: "DEBUG"},
		"a line of eight bytes": {variable: "first line\n8 bytes.\n", message: "got 8 bytes.", want: "got REDACTED"},
		"a line of seven bytes": {variable: "first line\n7 bytes\n", message: "got 7 bytes", want: "got 7 bytes"},
		"a line of a longer one": {
			variable: "-----BEGIN\nMIIEvQIBADANBg\n",
			message:  "  value: |\n    -----BEGIN\n    MIIEvQIBADANBg", want: "  value: |\n    REDACTED\n    REDACTED",
		},
	} {
		t.Run(name, func(t *testing.T) {
			darkroom := photos().InlineKeys(test.accessKey, test.secretKey).Env("ANY", test.variable).Obj()
			if got := Message(darkroom, test.message); got != test.want {
				t.Errorf("want %q, got %q", test.want, got)
			}
		})
	}
}

// One secret can be part of another, or share its beginning or end.
func TestNoPartOfASecretIsLeft(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching("[ab]{8,12}")
		keys := [2]string{secret.Draw(t, "access key"), secret.Draw(t, "secret key")}
		variable := keys[rapid.IntRange(0, 1).Draw(t, "of")] + rapid.StringMatching("[ab]{0,6}").Draw(t, "end")
		message := rapid.SampledFrom([]string{keys[0], keys[1], variable}).Draw(t, "message")
		got := Message(photos().InlineKeys(keys[0], keys[1]).Env("ANY", variable).Obj(), "refused: "+message)
		if got != "refused: REDACTED" {
			t.Errorf("with the secrets %q and %q, %q became %q", keys, variable, message, got)
		}
	})
}

// API servers and libraries print rejected values in several forms.
func TestEveryFormOfASecretIsFound(t *testing.T) {
	for _, secret := range []string{
		"AKIAEXAMPLE", "a/Secret+key~2", `quote"back\slash<tag>&`, "it's a pass phrase", "tab\tand é",
		"10 %/+=?#@:", "4byt", "!ive+",
	} {
		asJSON := func(text string) string {
			quoted, err := json.Marshal(text)
			expect.NoError(t, err)
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
				if got := Message(darkroom, `refused: "`+text+`==", more`); got != `refused: "REDACTED==", more` {
					t.Errorf("%q %s: %q became %q", secret, form, text, got)
				}
			}
		}
	}
}

// A message that the API server stores differently would be reported again in each reconcile.
func TestMessagesAreStoredAsTheyAreReported(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.OneOf(rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(raw []byte) string { return string(raw) })), 1, 4)
		text := ""
		for _, piece := range pieces.Draw(t, "pieces") {
			text += piece
		}
		length := rapid.IntRange(len("…"), 100).Draw(t, "length")
		message := Cut(text, length, "…")
		raw, err := json.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		var stored string
		if err := json.Unmarshal(raw, &stored); err != nil || stored != message || len(stored) > length {
			t.Fatalf("%q is stored as %q (%d bytes, at most %d)", message, stored, len(stored), length)
		}
		if again := Cut(stored, length, "…"); again != stored {
			t.Fatalf("%q becomes %q", stored, again)
		}
	})
}
