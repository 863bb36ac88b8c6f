// Package digest computes digests of releases, manifests and objects, which are compared in
// place of their content.
package digest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// Records in the cluster hold digests in two encodings: Digest is base64, Identity
// hexadecimal. With any other encoding no stored record would match, and every record
// would be rewritten.

// Digest is a SHA-256. Its text form is base64 without padding.
type Digest [sha256.Size]byte

// MarshalText implements encoding.TextMarshaler.
func (d Digest) MarshalText() ([]byte, error) {
	return base64.RawStdEncoding.AppendEncode(nil, d[:]), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Digest) UnmarshalText(text []byte) error {
	raw, err := base64.RawStdEncoding.DecodeString(string(text))
	if err != nil || len(raw) != len(d) {
		return errors.New("not a SHA-256 in base64")
	}
	copy(d[:], raw)
	return nil
}

// Sum returns the SHA-256 of the concatenated parts.
func Sum(parts ...[]byte) Digest {
	all := sha256.New()
	for _, part := range parts {
		all.Write(part)
	}
	return Digest(all.Sum(nil))
}

// Of returns the SHA-256 of a value's JSON, whose keys are sorted. It panics on a value
// that cannot be encoded; objects and metadata were decoded from JSON, so they can be.
func Of(value any) Digest {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return Sum(raw)
}

// Identity returns a short digest that identifies a manifest.
func Identity(manifest string) string {
	return fmt.Sprintf("sha256:%x", Sum([]byte(manifest)))
}
