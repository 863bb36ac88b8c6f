package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// environment parses variables and collects errors. An empty variable counts as unset.
type environment struct {
	lookup func(string) (string, bool)
	errors []error
}

func (e *environment) err() error { return errors.Join(e.errors...) }

func (e *environment) fail(name, reason string) {
	e.errors = append(e.errors, fmt.Errorf("environment variable %s: %s", name, reason))
}

func (e *environment) text(name, unset string) string {
	if value, ok := e.lookup(name); ok && value != "" {
		return value
	}
	return unset
}

// integer parses a number that must be at least least.
func (e *environment) integer(name string, unset, least int64) int64 {
	n, err := strconv.ParseInt(e.text(name, strconv.FormatInt(unset, 10)), 10, 64)
	if err != nil || n < least {
		e.fail(name, fmt.Sprintf("must be an integer of at least %d", least))
	}
	return n
}

func (e *environment) seconds(name string, unset int64) time.Duration {
	return time.Duration(min(e.integer(name, unset, 0), math.MaxInt32)) * time.Second
}

func (e *environment) boolean(name string, unset bool) bool {
	value, err := strconv.ParseBool(e.text(name, strconv.FormatBool(unset)))
	if err != nil {
		e.fail(name, "must be true or false")
	}
	return value
}

func (e *environment) url(name, unset string) *url.URL {
	u, err := url.Parse(e.text(name, unset))
	if err != nil || u.Host == "" {
		e.fail(name, "must be an absolute URL")
	}
	return u
}

// list parses names separated by commas, which must be among those known; unset allows all.
func (e *environment) list(name string, known []string) []string {
	text := e.text(name, "")
	if text == "" {
		return nil
	}
	names := strings.Split(text, ",")
	for _, each := range names {
		if !slices.Contains(known, each) {
			e.fail(name, fmt.Sprintf("%q is not one of %s", each, strings.Join(known, ", ")))
		}
	}
	return names
}

// pairs parses k=v;k=v, the format of Darkroom.
func (e *environment) pairs(name string) map[string]string {
	pairs := map[string]string{}
	for part := range strings.SplitSeq(e.text(name, ""), ";") {
		if key, value, ok := strings.Cut(part, "="); ok {
			pairs[key] = value
		}
	}
	return pairs
}

// object parses a JSON object of strings.
func (e *environment) object(name string) map[string]string {
	var object map[string]string
	if err := json.Unmarshal([]byte(e.text(name, "{}")), &object); err != nil {
		e.fail(name, "must be a JSON object of strings")
	}
	return object
}

// level parses a log level of Darkroom.
func (e *environment) level(name string) (level slog.Level) {
	text := strings.ToLower(e.text(name, "info"))
	if slices.Contains([]string{"dpanic", "panic", "fatal"}, text) {
		text = "error"
	}
	if err := level.UnmarshalText([]byte(text)); err != nil {
		e.fail(name, err.Error())
	}
	return level
}
