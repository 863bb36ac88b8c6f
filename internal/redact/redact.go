// Package redact prepares texts for conditions, events, logs and answers: without the secrets of a Darkroom, and of a
// bounded length.
package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

const (
	// shortestValue is the least length in bytes of an environment variable's value that counts
	// as a secret.
	shortestValue = 4
	// longSecret is the least length of a secret that is also found within a longer word.
	longSecret = 8
)

// words are common values of environment variables that are not secrets and occur in many
// messages.
var words = []string{
	"true", "false", "null", "none", "auto", "always", "never", "enabled", "disabled", "default",
	"local", "prometheus", "statsd",
	"debug", "info", "warn", "warning", "error", "fatal", "panic", "http", "https", "json", "text",
}

// Message removes the secrets of a Darkroom from a message, such as an error that quotes a
// rejected object: its inline keys, and the literal values of its environment variables,
// which may be secrets. A secret is found as it is, quoted as in Go or JSON, escaped as in
// a URL, and in base64, as in the data of a Secret. A secret of fewer than eight bytes
// is only found as a whole word. Values of variables are not secrets if they have fewer than four
// bytes, or are numbers, durations, common words or the Darkroom's own name or namespace.
func Message(darkroom *v1alpha1.Darkroom, message string) string {
	var patterns []string
	add := func(secret string) {
		for _, form := range written(secret) {
			switch {
			case secret == "" || !strings.Contains(message, form):
			case len(secret) < longSecret:
				patterns = append(patterns, wholeWord(form))
			default:
				patterns = append(patterns, regexp.QuoteMeta(form))
			}
		}
	}
	for source := range darkroom.Spec.Sources() {
		add(source.AccessKey)
		add(source.SecretKey)
	}
	for _, variable := range darkroom.Spec.ExtraEnv {
		if !isTrivial(darkroom, variable.Value) {
			add(variable.Value)
		}
	}
	if len(patterns) == 0 {
		return message
	}
	// The longest first, because one secret can be part of another.
	slices.SortFunc(patterns, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	found, err := regexp.Compile(strings.Join(patterns, "|"))
	if err != nil {
		return v1alpha1.Concealed // a secret that is no text
	}
	return found.ReplaceAllLiteralString(message, v1alpha1.Concealed)
}

// maxQuoted bounds what conditions and the log quote, in bytes. Errors can be as long as the objects that users write.
const maxQuoted = 4096

// Quote returns a message for a condition or the log: without the secrets of a Darkroom, and of a bounded length.
func Quote(darkroom *v1alpha1.Darkroom, message string) string {
	return Cut(Message(darkroom, message), maxQuoted, " … (shortened)")
}

// Cut replaces what is beyond some bytes of a text, and what is no text: otherwise the API server would
// store another one, which would be reported again each time.
func Cut(text string, length int, end string) string {
	text = strings.ToValidUTF8(text, "�")
	if len(text) <= length {
		return text
	}
	return strings.ToValidUTF8(text[:length-len(end)], "") + end
}

// Error returns an error whose message is quoted for the log. It wraps the error, so that decisions on retries
// stay the same.
func Error(darkroom *v1alpha1.Darkroom, err error) error {
	if err == nil {
		return nil
	}
	return redactedError{err, Quote(darkroom, err.Error())}
}

type redactedError struct {
	error
	message string
}

func (e redactedError) Error() string { return e.message }
func (e redactedError) Unwrap() error { return e.error }

var wordAtStart, wordAtEnd = regexp.MustCompile(`^\w`), regexp.MustCompile(`\w$`)

// wholeWord returns the pattern of a text that is not part of a longer word.
func wholeWord(text string) string {
	pattern := regexp.QuoteMeta(text)
	if wordAtStart.MatchString(text) {
		pattern = `\b` + pattern
	}
	if wordAtEnd.MatchString(text) {
		pattern += `\b`
	}
	return pattern
}

func isTrivial(darkroom *v1alpha1.Darkroom, value string) bool {
	if len(value) < shortestValue || value == darkroom.Name || value == darkroom.Namespace ||
		slices.Contains(words, strings.ToLower(value)) {
		return true
	}
	_, notNumber := strconv.ParseFloat(value, 64)
	_, notDuration := time.ParseDuration(value)
	return notNumber == nil || notDuration == nil
}

// written returns the forms in which API servers and libraries print a secret, and the lines of a
// longer text, such as a private key.
func written(secret string) []string {
	forms := []string{secret}
	for line := range strings.Lines(secret) {
		if line = strings.TrimSpace(line); len(line) >= longSecret {
			forms = append(forms, line)
		}
	}
	for _, form := range slices.Clone(forms) {
		quoted := strconv.Quote(form)
		forms = append(forms,
			quoted[1:len(quoted)-1], inJSON(form), inJSON(inJSON(form)), // JSON quoted in a message that is JSON
			url.QueryEscape(form), url.PathEscape(form), url.UserPassword("", form).String()[1:],
			base64.RawStdEncoding.EncodeToString([]byte(form)),
		)
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

func inJSON(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		return text
	}
	return string(raw[1 : len(raw)-1])
}
