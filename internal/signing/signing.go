// Package signing makes the signatures that the gate verifies (gate/signing), which it cannot import.
// gate/testdata/signatures.txt holds both to the same format.
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

// minKey is the shortest key that the gate accepts, in bytes.
const minKey = 16

// FirstKey returns the key for signatures: the first of the keys, one on each line. Its errors do not contain keys.
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

// Sign returns a URL with its signature, which binds the path and all parameters. It expires at a
// time, unless that is zero. A signature that it has is replaced.
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

// Verifies reports whether a URL has the signature of one of the keys, which are in lines.
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
