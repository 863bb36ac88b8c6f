package values

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

const (
	// redacted replaces a credential.
	redacted = "[redacted]"
	// shortestValue is the minimum length in bytes of an environment variable's value that
	// counts as a secret.
	shortestValue = 4
	// longValue is the minimum length of a value that is also found within a longer word.
	// Shorter values must be whole words, or messages would lose parts of ordinary words.
	longValue = 8
	// shortestPart is the least number of base64 characters that are searched for within
	// longer base64 text.
	shortestPart = 6
)

// words are common values of environment variables that are not secrets and occur in many
// messages.
var words = []string{
	"true", "false", "null", "none", "auto", "always", "never", "enabled", "disabled", "default", "local", "prometheus", "statsd",
	"debug", "info", "warn", "warning", "error", "fatal", "panic", "http", "https", "json", "text",
}

// Redact removes the secrets of a Darkroom from a message, such as an error that quotes a
// rejected object: its inline keys, and the literal values of its environment variables,
// which may be secrets. A secret is found as it is, quoted as in Go or JSON, escaped as in
// a URL, and in base64, also as part of a longer text. Keys that are shorter than four bytes are
// found only as whole words. Such values of variables, numbers, durations, common words and the
// Darkroom's own name and namespace are not secrets.
func Redact(darkroom *v1alpha1.Darkroom, message string) string {
	var found []span
	source := &darkroom.Spec.Source
	for _, credential := range []string{source.AccessKey, source.SecretKey} {
		found = append(found, find(message, credential, len(credential) < shortestValue)...)
	}
	for _, variable := range darkroom.Spec.ExtraEnv {
		if !trivial(darkroom, variable.Value) {
			found = append(found, find(message, variable.Value, len(variable.Value) < longValue)...)
		}
	}
	return without(message, found)
}

func trivial(darkroom *v1alpha1.Darkroom, value string) bool {
	if len(value) < shortestValue || value == darkroom.Name || value == darkroom.Namespace || slices.Contains(words, strings.ToLower(value)) {
		return true
	}
	_, notNumber := strconv.ParseFloat(value, 64)
	_, notDuration := time.ParseDuration(value)
	return notNumber == nil || notDuration == nil
}

// span is a part of a message, from start up to end.
type span struct{ start, end int }

// find returns where a secret is in a message, in any of its forms.
func find(message, secret string, alone bool) []span {
	if secret == "" {
		return nil
	}
	var found []span
	for _, form := range written(secret) {
		for _, at := range occurrences(message, form) {
			if !alone || !within(message, at, wordCharacters) {
				found = append(found, at)
			}
		}
	}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		alphabet := stdCharacters
		if encoding == base64.RawURLEncoding {
			alphabet = urlCharacters
		}
		for _, at := range occurrences(message, encoding.EncodeToString([]byte(secret))) {
			if !within(message, at, alphabet) {
				found = append(found, at)
			}
		}
		for _, part := range parts(encoding, secret) {
			for _, at := range occurrences(message, part) {
				// The characters around hold bits of the secret too.
				found = append(found, widened(message, at, alphabet))
			}
		}
	}
	return found
}

// written are the forms of a secret other than base64. Lines of a longer text, such as
// those of a private key, are also indented or printed one by one.
func written(secret string) []string {
	forms := []string{secret}
	for line := range strings.Lines(secret) {
		if line = strings.TrimSpace(line); len(line) >= longValue {
			forms = append(forms, line)
		}
	}
	for _, form := range slices.Clone(forms) {
		quoted := strconv.Quote(form)
		ascii := strconv.QuoteToASCII(form)
		forms = append(forms,
			quoted[1:len(quoted)-1], ascii[1:len(ascii)-1],
			inJSON(form, true), inJSON(form, false),
			inJSON(inJSON(form, true), true), inJSON(inJSON(form, false), false), // an object quoted in a message that is JSON
			url.QueryEscape(form), url.PathEscape(form), (&url.URL{Path: form}).EscapedPath(), url.UserPassword("", form).String()[1:],
			strings.ReplaceAll(form, "'", "''"), // single quotes of YAML
		)
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

func inJSON(text string, escapeHTML bool) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(escapeHTML)
	if err := encoder.Encode(text); err != nil {
		return text
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(out.String(), "\n"), `"`), `"`)
}

// parts are the characters of a secret's base64 that do not depend on what is before
// and after it, for each of the three places in which it can begin.
func parts(encoding *base64.Encoding, secret string) []string {
	var out []string
	for shift := range 3 {
		encoded := encoding.EncodeToString(append(make([]byte, shift), secret...))
		part := encoded[(shift*8+5)/6 : (shift+len(secret))*8/6]
		if len(part) >= shortestPart {
			out = append(out, part)
		}
	}
	return out
}

const (
	wordCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	stdCharacters  = wordCharacters + "+/"
	urlCharacters  = wordCharacters + "-_"
)

func occurrences(message, of string) []span {
	var found []span
	for from := 0; ; {
		at := strings.Index(message[from:], of)
		if at < 0 {
			return found
		}
		found = append(found, span{from + at, from + at + len(of)})
		from += at + 1
	}
}

// within reports whether a span is part of a longer run of characters.
func within(message string, at span, characters string) bool {
	return widened(message, at, characters) != at
}

// widened is the whole run of characters that a span is part of.
func widened(message string, at span, characters string) span {
	for at.start > 0 && strings.IndexByte(characters, message[at.start-1]) >= 0 {
		at.start--
	}
	for at.end < len(message) && strings.IndexByte(characters, message[at.end]) >= 0 {
		at.end++
	}
	return at
}

// without replaces each part of a message, and those that overlap by one mark.
func without(message string, found []span) string {
	if len(found) == 0 {
		return message
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Or(a.start-b.start, b.end-a.end) })
	var out strings.Builder
	end := 0
	for _, at := range found {
		switch {
		case at.start >= end:
			out.WriteString(message[end:at.start])
			out.WriteString(redacted)
		case at.end <= end:
			continue
		}
		end = max(end, at.end)
	}
	out.WriteString(message[end:])
	return out.String()
}
