// Package signing verifies the signatures of URLs. A signature binds the path and all parameters:
//
//	s = hex(HMAC-SHA256(key, path + "?" + query))
//
// where path is decoded, and query has all parameters but s, sorted by name and encoded as in forms.
package signing

import (
	"crypto/hmac"
	"crypto/md5" //nolint:gosec // a scheme that is off by default
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// The schemes. Imgix also accepts the signatures that client libraries of imgix make: the MD5 digest
// of key, path and query as they are sent.
const (
	SHA256 = "sha256"
	Imgix  = "imgix"
)

// The modes. Report serves all requests.
const (
	Require = "Require"
	Report  = "Report"
)

const (
	// minKey is the shortest key, in bytes.
	minKey = 16
	// reread is the age from which the keys are read again: Kubernetes changes the file when the
	// Secret changes.
	reread = 5 * time.Second
	// maxYears bounds the time until a URL expires: a time in milliseconds is never meant.
	maxYears = 100
)

// Options configure a Verifier.
type Options struct {
	// File has the keys, one in each line.
	File string
	// Mode and Scheme are among the constants.
	Mode, Scheme string
	// Public is the path and query of a request that needs no signature, the one for the probe.
	Public string
	// Count is called with the result of each verification: valid, missing, invalid or expired.
	Count func(result string)
	Log   *slog.Logger
}

// Verifier verifies URLs. Its methods are safe for concurrent use.
type Verifier struct {
	options Options

	mu   sync.Mutex
	keys [][]byte
	// read is the time when the keys were read.
	read time.Time
}

// New returns a verifier, or an error if the file has no keys.
func New(options Options) (*Verifier, error) {
	keys, err := readKeys(options.File)
	return &Verifier{options: options, keys: keys, read: time.Now()}, err
}

// readKeys never has a part of a key in its error.
func readKeys(file string) (keys [][]byte, err error) {
	content, err := os.ReadFile(file) //nolint:gosec // a setting
	if err != nil {
		return nil, fmt.Errorf("read signing keys: %w", err)
	}
	for line := range strings.Lines(string(content)) {
		switch key := strings.TrimSpace(line); {
		case key == "":
		case len(key) < minKey:
			return nil, fmt.Errorf("signing key %d in %s has fewer than %d characters", len(keys)+1, file, minKey)
		default:
			keys = append(keys, []byte(key))
		}
	}
	if len(keys) == 0 {
		return nil, errors.New(file + " has no signing keys")
	}
	return keys, nil
}

// current returns the keys. Those of before remain if the file cannot be read.
func (v *Verifier) current() [][]byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	if now := time.Now(); now.Sub(v.read) >= reread {
		v.read = now
		if keys, err := readKeys(v.options.File); err == nil {
			v.keys = keys
		} else {
			v.options.Log.Warn("Signing keys were not changed", "error", err)
		}
	}
	return v.keys
}

// Verify returns a problem for a URL that may not be served, and the time at which it expires; zero
// for never.
func (v *Verifier) Verify(u *url.URL) (expires time.Time, err error) {
	if v.options.Public != "" && u.Path+"?"+u.RawQuery == v.options.Public {
		return time.Time{}, nil
	}
	query, malformed := url.ParseQuery(u.RawQuery) // a signature does not bind what cannot be parsed
	result, refusal := "valid", error(nil)
	switch expires, err = expiry(query.Get("expires")); {
	case !query.Has("s"):
		result, refusal = "missing", problem.New(problem.Forbidden, "the URL is not signed; parameter s is required")
	case malformed != nil, path.Clean(u.Path) != u.Path, !v.signed(u, query):
		result, refusal = "invalid", problem.New(problem.Forbidden, "the signature of the URL is invalid")
	case err != nil:
		result, refusal = "invalid", err
	case !expires.IsZero() && !time.Now().Before(expires):
		result, refusal = "expired", problem.New(problem.Expired, "the URL has expired")
	}
	v.options.Count(result)
	if v.options.Mode == Report {
		return time.Time{}, nil
	}
	return expires, refusal
}

func expiry(value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil || seconds > time.Now().AddDate(maxYears, 0, 0).Unix() {
		return time.Time{}, problem.New(problem.Invalid,
			"parameter expires must be a Unix time in seconds, at most %d years ahead", maxYears)
	}
	return time.Unix(seconds, 0), nil
}

// signed reports whether one of the keys made the signature.
func (v *Verifier) signed(u *url.URL, query url.Values) bool {
	given := query["s"]
	if len(given) != 1 {
		return false
	}
	return slices.ContainsFunc(v.current(), func(key []byte) bool {
		if hmac.Equal([]byte(given[0]), []byte(sign(key, u.Path, query))) {
			return true
		}
		return v.options.Scheme == Imgix && hmac.Equal([]byte(given[0]), []byte(signImgix(key, u)))
	})
}

// sign returns the signature of a path and parameters, but for s.
func sign(key []byte, of string, query url.Values) string {
	bound := url.Values{}
	for name, values := range query {
		if name != "s" {
			bound[name] = values
		}
	}
	hash := hmac.New(sha256.New, key)
	_, _ = hash.Write([]byte(of + "?" + bound.Encode())) // never fails
	return hex.EncodeToString(hash.Sum(nil))
}

// signImgix returns the signature of a URL as it is sent.
func signImgix(key []byte, u *url.URL) string {
	pairs := slices.DeleteFunc(strings.Split(u.RawQuery, "&"),
		func(pair string) bool { return strings.HasPrefix(pair, "s=") })
	signed := string(key) + u.EscapedPath()
	if len(pairs) > 0 {
		signed += "?" + strings.Join(pairs, "&")
	}
	sum := md5.Sum([]byte(signed)) //nolint:gosec // see above
	return hex.EncodeToString(sum[:])
}
