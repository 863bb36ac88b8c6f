package config

import (
	"cmp"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// environment parses variables and collects errors. An empty variable counts as unset.
type environment struct {
	getenv func(string) string
	errors []error
}

func (e *environment) fail(name, reason string) {
	e.errors = append(e.errors, fmt.Errorf("environment variable %s: %s", name, reason))
}

func (e *environment) text(name, unset string) string { return cmp.Or(e.getenv(name), unset) }

// integer parses a number with a lower bound.
func (e *environment) integer(name string, unset, least int64) int64 {
	const most = 1 << 44 // larger than any memory or disk, and free of overflows
	n, err := strconv.ParseInt(e.text(name, strconv.FormatInt(unset, 10)), 10, 64)
	if err != nil || n < least || n > most {
		e.fail(name, fmt.Sprintf("must be an integer from %d to %d", least, int64(most)))
	}
	return n
}

func (e *environment) seconds(name string, unset int64) time.Duration {
	return time.Duration(min(e.integer(name, unset, 0), math.MaxInt32)) * time.Second
}

// parse parses a variable with a given parser.
func parse[T any](e *environment, name, unset string, parser func(string) (T, error)) T {
	value, err := parser(e.text(name, unset))
	if err != nil {
		e.fail(name, err.Error())
	}
	return value
}

func (e *environment) boolean(name string, unset bool) bool {
	return parse(e, name, strconv.FormatBool(unset), strconv.ParseBool)
}

// choice returns one of several words. The first one is the default.
func (e *environment) choice(name string, choices ...string) string {
	value := e.text(name, choices[0])
	if !slices.Contains(choices, value) {
		e.fail(name, "must be one of "+strings.Join(choices, ", "))
	}
	return value
}

// names parses a comma-separated list.
func (e *environment) names(name string) []string {
	text := e.text(name, "")
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// list parses a comma-separated list of known names. An unset variable allows all names.
func (e *environment) list(name string, known []string) []string {
	names := e.names(name)
	for _, each := range names {
		if !slices.Contains(known, each) {
			e.fail(name, fmt.Sprintf("%q is not one of %s", each, strings.Join(known, ", ")))
		}
	}
	return names
}

// pairs parses k=v;k=v, as Darkroom does.
func (e *environment) pairs(name string) map[string]string {
	pairs := map[string]string{}
	for part := range strings.SplitSeq(e.text(name, ""), ";") {
		key, value, ok := strings.Cut(part, "=")
		switch {
		case ok:
			pairs[key] = value
		case part != "":
			e.fail(name, fmt.Sprintf("%q is not a pair k=v; pairs are separated by semicolons", part))
		}
	}
	return pairs
}

// presets parses a JSON object of query strings.
func (e *environment) presets(name string) map[string]map[string]string {
	var queries map[string]string
	if err := json.Unmarshal([]byte(e.text(name, "{}")), &queries); err != nil {
		e.fail(name, err.Error())
	}
	parsed := map[string]map[string]string{}
	for preset, query := range queries {
		values, err := url.ParseQuery(query)
		if err != nil {
			e.fail(name, fmt.Sprintf("preset %q: %v", preset, err))
		}
		parsed[preset] = map[string]string{}
		for parameter := range values {
			if !slices.Contains(request.Parameters, parameter) {
				e.fail(name, fmt.Sprintf("preset %q: %q is not one of %s", preset, parameter,
					strings.Join(request.Parameters, ", ")))
			}
			parsed[preset][parameter] = values.Get(parameter)
		}
	}
	return parsed
}

// base parses the URL of a service.
func base(text string) (*url.URL, error) {
	parsed, err := url.Parse(text)
	if err == nil && (parsed.Scheme != "http" || parsed.Host == "") {
		err = errors.New("must be an absolute http URL")
	}
	return parsed, err
}

// level parses a log level of Darkroom.
func level(text string) (level slog.Level, err error) {
	if slices.Contains([]string{"dpanic", "panic", "fatal"}, strings.ToLower(text)) {
		return slog.LevelError, nil
	}
	err = level.UnmarshalText([]byte(text))
	return level, err
}

// authorities returns the certificates of the system and those in a file; nil without a file.
func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // the system's authorities
	}
	certificates, err := os.ReadFile(file) //nolint:gosec // a setting
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, err
	}
	if !pool.AppendCertsFromPEM(certificates) {
		return nil, fmt.Errorf("%s contains no certificates in PEM format", file)
	}
	return pool, nil
}
