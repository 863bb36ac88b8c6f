// Package cache keeps results in memory and on disk.
package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
)

// Entry is a result. It is immutable and shared between requests.
type Entry struct {
	Body        []byte
	ContentType string
	// ETag is a strong ETag: the quoted digest of the body.
	ETag string
	Origin
}

// Size returns the memory of the body in bytes, which can exceed its length if the length of the original was
// unknown.
func (e *Entry) Size() int64 { return int64(cap(e.Body)) }

// Origin describes the original of a result, and the last response of its source.
type Origin struct {
	// Original is the digest of the original.
	Original string
	// OriginalBytes is the size of the original; 0 if unknown.
	OriginalBytes int64
	// Source contains the validators for conditional requests.
	Source original.Validators
	// Control contains the caching rules of the source. A file on disk contains the rules from the time of writing.
	Control original.Control
	// Validated is the time when the source last confirmed the original.
	Validated time.Time
}

// NewEntry returns an entry and computes its ETag.
func NewEntry(body []byte, contentType string, of Origin) *Entry {
	sum := sha256.Sum256(body)
	return &Entry{Body: body, ContentType: contentType, ETag: `"` + hex.EncodeToString(sum[:16]) + `"`, Origin: of}
}

var errCorrupt = errors.New("cache file is corrupt")

// encode returns the content of a file: the SHA-256 digest of all that follows, the key, the entry without its body,
// and the body. The validation time is stored as the file's modification time.
func encode(key string, e *Entry) ([]byte, error) {
	out := bytes.NewBuffer(make([]byte, sha256.Size, sha256.Size+len(e.Body)+1024))
	head := *e
	head.Body = nil
	encoder := gob.NewEncoder(out)
	if err := errors.Join(encoder.Encode(key), encoder.Encode(head)); err != nil {
		return nil, fmt.Errorf("encode cache file: %w", err)
	}
	out.Write(e.Body)
	file := out.Bytes()
	sum := sha256.Sum256(file[sha256.Size:])
	copy(file, sum[:])
	return file, nil
}

// decode returns the entry of a file. Its body shares the memory of the file. A file with another key is corrupt.
func decode(key string, file []byte) (*Entry, error) {
	if len(file) < sha256.Size || sha256.Sum256(file[sha256.Size:]) != [sha256.Size]byte(file) {
		return nil, errCorrupt
	}
	var of string
	var e Entry
	rest := bytes.NewReader(file[sha256.Size:])
	decoder := gob.NewDecoder(rest)
	if err := errors.Join(decoder.Decode(&of), decoder.Decode(&e)); err != nil || of != key || e.Body != nil {
		return nil, errCorrupt
	}
	e.Body = file[len(file)-rest.Len():]
	return &e, nil
}
