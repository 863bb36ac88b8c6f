package release

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// Records in the cluster hold digests in two spellings: digest is base64, identityOf
// hexadecimal. Either written otherwise would match no record of before, and all of
// them would be written anew.

// digest is a SHA-256. As text it is base64.
type digest [sha256.Size]byte

// MarshalText implements encoding.TextMarshaler.
func (d digest) MarshalText() ([]byte, error) {
	return base64.RawStdEncoding.AppendEncode(nil, d[:]), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *digest) UnmarshalText(text []byte) error {
	raw, err := base64.RawStdEncoding.DecodeString(string(text))
	if err != nil || len(raw) != len(d) {
		return errors.New("no SHA-256")
	}
	copy(d[:], raw)
	return nil
}

// sum is the SHA-256 of parts, one after the other.
func sum(parts ...[]byte) digest {
	all := sha256.New()
	for _, part := range parts {
		all.Write(part)
	}
	return digest(all.Sum(nil))
}

// digestOf is the SHA-256 of a value's JSON, whose keys are sorted.
func digestOf(value any) digest {
	raw, err := json.Marshal(value)
	if err != nil {
		// Objects and metadata were decoded from JSON, so they encode to it.
		panic(err)
	}
	return sum(raw)
}

// identityOf is a text that no other manifest has.
func identityOf(manifest string) string {
	return fmt.Sprintf("sha256:%x", sum([]byte(manifest)))
}
