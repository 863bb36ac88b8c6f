// Package terminal makes text from tenants safe to print. Events, messages of pods, responses of sources and fields of
// objects contain such text, and administrators often read it.
package terminal

import (
	"fmt"
	"strings"
	"unicode"
)

// Escape replaces characters that control a terminal with escape sequences of Go and JSON, for example characters that
// move the cursor, change the title or reverse the text direction. Newlines and tabs are kept. Invalid UTF-8 is
// replaced, because some terminals interpret the bytes 0x80 to 0x9f.
func Escape(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if strings.IndexFunc(text, controls) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if controls(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Line returns an escaped text on one line, so that it cannot imitate other lines of the output.
func Line(text string) string { return Escape(strings.Join(strings.Fields(text), " ")) }

func controls(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
}
