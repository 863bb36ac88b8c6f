package terminal

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

func TestControlCharactersAreEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"Bild nicht gefunden: größe 🖼": "Bild nicht gefunden: größe 🖼",
		"a\n\tb":                       "a\n\tb",
		"\x1b]0;title\a":               `\u001b]0;title\u0007`,
		"gone\r\b":                     `gone\u000d\u0008`,
		"\u009b31m":                    `\u009b31m`,
		"\x7f":                         `\u007f`,
		"\u202egnp.exe":                `\u202egnp.exe`,
		"\x9b31m\xff":                  "\ufffd31m\ufffd",
	} {
		if got := Escape(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestEscapedTextsControlNothing(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		bytes := rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })
		text := rapid.OneOf(rapid.String(), bytes).Draw(t, "text")
		got := Escape(text)
		if strings.ContainsFunc(got, controls) || !utf8.ValidString(got) {
			t.Errorf("%q becomes %q", text, got)
		}
		isOdd := func(r rune) bool { return unicode.IsControl(r) || !unicode.IsPrint(r) }
		if utf8.ValidString(text) && !strings.ContainsFunc(text, isOdd) && got != text {
			t.Errorf("%q becomes %q, although it controls nothing", text, got)
		}
	})
}
