// Package redact prepares texts for conditions, events, logs and responses: it removes the secrets of a Darkroom and
// limits the length.
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
	// shortestValue is the minimum length in bytes for the value of an environment variable to count as a secret.
	shortestValue = 4
	// longSecret is the minimum length of a secret that is also found inside longer words.
	longSecret = 8
)

// words are common values of environment variables. They are not secrets and occur in many messages.
var words = []string{
	"true", "false", "null", "none", "auto", "always", "never", "enabled", "disabled", "default",
	"local", "prometheus", "statsd",
	"debug", "info", "warn", "warning", "error", "fatal", "panic", "http", "https", "json", "text",
}

// Message removes the secrets of a Darkroom from a message, such as an error that quotes a rejected object. Secrets are
// inline keys, and literal values of environment variables. They are found in plain form, quoted as in Go or JSON,
// escaped as in a URL, and in base64 as in the data of a Secret. A secret of fewer than eight bytes is found only as a
// whole word. Values of variables do not count as secrets if they have fewer than four bytes, or are numbers,
// durations, common words, or the Darkroom's name or namespace.
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
	// The longest secrets come first, because one secret can be part of another.
	slices.SortFunc(patterns, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	found, err := regexp.Compile(strings.Join(patterns, "|"))
	if err != nil {
		return v1alpha1.Concealed // a secret is not valid UTF-8
	}
	return found.ReplaceAllLiteralString(message, v1alpha1.Concealed)
}

// maxQuoted limits quotations in conditions and the log, in bytes. Errors can be as long as the objects that users
// write.
const maxQuoted = 4096

// Quote returns a message for a condition or the log, without secrets and limited in length.
func Quote(darkroom *v1alpha1.Darkroom, message string) string {
	return Cut(Message(darkroom, message), maxQuoted, " … (shortened)")
}

// Cut shortens a text and replaces invalid UTF-8. Otherwise the API server would store a different text, and the
// operator would report the difference in each reconcile.
func Cut(text string, length int, end string) string {
	text = strings.ToValidUTF8(text, "�")
	if len(text) <= length {
		return text
	}
	return strings.ToValidUTF8(text[:length-len(end)], "") + end
}

// Error returns an error whose message is redacted for the log. It wraps the original error, so that decisions on
// retries are not affected.
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

// wholeWord returns a pattern that matches a text only outside of longer words.
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

// written returns the forms in which API servers and libraries print a secret, including the lines of a multi-line
// secret such as a private key.
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
