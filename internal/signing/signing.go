// Package signing creates the signatures that the gate verifies (gate/signing). It cannot import the gate's package;
// gate/testdata/signatures.txt tests both for the same format.
package signing

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

// minKey is the minimum length of a key that the gate accepts, in bytes.
const minKey = 16

// FirstKey returns the key for signing, which is the first of the keys, one per line. Its errors do not contain keys.
func FirstKey(keys string) (string, error) {
	for line := range strings.Lines(keys) {
		switch key := strings.TrimSpace(line); {
		case key == "":
		case len(key) < minKey:
			return "", errors.New("the signing key has fewer than 16 characters")
		default:
			return key, nil
		}
	}
	return "", errors.New("there is no signing key")
}

// Sign returns a URL with a signature of the path and all parameters. A signature expires at the given time; zero means
// never. An existing signature is replaced.
func Sign(key string, u url.URL, expires time.Time) *url.URL {
	query := u.Query()
	query.Del("s")
	if !expires.IsZero() {
		query.Set("expires", strconv.FormatInt(expires.Unix(), 10))
	}
	u.Path, u.RawPath = path.Clean("/"+u.Path), ""
	hash := hmac.New(sha256.New, []byte(key))
	_, _ = hash.Write([]byte(u.Path + "?" + query.Encode())) // never fails
	query.Set("s", hex.EncodeToString(hash.Sum(nil)))
	u.RawQuery = query.Encode()
	return &u
}

// Verifies reports whether a URL is signed with one of the keys, given one per line.
func Verifies(keys string, u url.URL) bool {
	given := []byte(u.Query().Get("s"))
	for line := range strings.Lines(keys) {
		key := strings.TrimSpace(line)
		if len(key) >= minKey && hmac.Equal(given, []byte(Sign(key, u, time.Time{}).Query().Get("s"))) {
			return true
		}
	}
	return false
}
