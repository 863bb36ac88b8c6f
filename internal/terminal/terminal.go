// Package terminal makes text by tenants safe to print. Events, messages of pods, responses of sources and
// fields of objects contain such text, and their readers are often administrators.
package terminal

import (
	"fmt"
	"strings"
	"unicode"
)

// Escape returns a text without characters that control a terminal, such as those that move the cursor, change
// the title or reverse the order of what follows: they are written as in Go and in JSON. Newlines and tabs
// remain. Bytes that are not UTF-8 are replaced: some terminals obey those from 0x80 to 0x9f.
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

// Line returns a text on one line, so that it looks like no other line of what it is printed in, and escaped.
func Line(text string) string { return Escape(strings.Join(strings.Fields(text), " ")) }

func controls(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
}
