// Package signing verifies the signatures of URLs. A signature binds the path and all parameters:
//
//	s = hex(HMAC-SHA256(key, path + "?" + query))
//
// where path is decoded, and query contains all parameters except s, sorted by name and encoded as in forms.
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

// Schemes. Imgix also accepts signatures of imgix client libraries: the MD5 digest of key, path and query as sent.
const (
	SHA256 = "sha256"
	Imgix  = "imgix"
)

// Modes. Report serves all requests.
const (
	Require = "Require"
	Report  = "Report"
)

const (
	// minKey is the minimum length of a key, in bytes.
	minKey = 16
	// reread is the interval for reading the keys again. Kubernetes updates the file when the Secret changes.
	reread = 5 * time.Second
	// maxYears limits the time until a URL expires, to detect times in milliseconds.
	maxYears = 100
)

// Options configure a Verifier.
type Options struct {
	// File contains one key per line.
	File string
	// Mode and Scheme are constants of this package.
	Mode, Scheme string
	// Public is the path and query of the probe, which needs no signature.
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
	// read is the time of the last read of the file.
	read time.Time
}

// New returns a verifier, or an error if the file contains no keys.
func New(options Options) (*Verifier, error) {
	keys, err := readKeys(options.File)
	return &Verifier{options: options, keys: keys, read: time.Now()}, err
}

// readKeys reads a file of keys. Its errors never contain a part of a key.
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

// current returns the keys. If the file cannot be read, the previous keys remain valid.
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

// Verify verifies the signature and expiry of a URL. It returns the time at which the URL expires, or zero, and a
// problem if the URL must not be served.
func (v *Verifier) Verify(u *url.URL) (expires time.Time, err error) {
	if v.options.Public != "" && u.Path+"?"+u.RawQuery == v.options.Public {
		return time.Time{}, nil
	}
	query, malformed := url.ParseQuery(u.RawQuery) // the signature does not cover malformed pairs
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

// signed reports whether the signature matches one of the keys.
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

// sign returns the signature of a path and of all parameters except s.
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

// signImgix returns the imgix signature of a URL as sent.
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
