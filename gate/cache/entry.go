// Package cache keeps results in memory and on disk.
package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
)

// Entry is a result. It is immutable, and shared between requests.
type Entry struct {
	Body        []byte
	ContentType string
	// ETag is strong: the digest of the body, in quotes.
	ETag string
	// Source holds what the source needs to confirm that the original is unchanged.
	Source original.Validators
	// Validated is the time when the source last confirmed the original.
	Validated time.Time
}

// NewEntry returns an entry with its ETag.
func NewEntry(body []byte, contentType string, source original.Validators, now time.Time) *Entry {
	sum := sha256.Sum256(body)
	return &Entry{Body: body, ContentType: contentType, ETag: `"` + hex.EncodeToString(sum[:16]) + `"`, Source: source, Validated: now}
}

// Revalidated returns the entry with a new time of validation.
func (e *Entry) Revalidated(now time.Time) *Entry {
	validated := *e
	validated.Validated = now
	return &validated
}

// A file consists of magic, the length of the header, the header as JSON, the body, and the
// SHA-256 digest of all that. The time of validation is the file's modification time.
const magic = "DGC1"

type header struct {
	Key         string              `json:"key"`
	ContentType string              `json:"contentType"`
	ETag        string              `json:"etag"`
	Source      original.Validators `json:"source"`
}

// maxHeader bounds the header of a file.
const maxHeader = 64 << 10

var errCorrupt = errors.New("cache file is corrupt")

func encode(key string, e *Entry) ([]byte, error) {
	head, err := json.Marshal(header{key, e.ContentType, e.ETag, e.Source})
	if err != nil {
		return nil, fmt.Errorf("encode cache header: %w", err)
	}
	if len(head) > maxHeader {
		return nil, fmt.Errorf("cache header of %d bytes is too large", len(head))
	}
	out := make([]byte, 0, len(magic)+4+len(head)+len(e.Body)+sha256.Size)
	out = append(out, magic...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(head))) //nolint:gosec // at most maxHeader
	out = append(out, head...)
	out = append(out, e.Body...)
	sum := sha256.Sum256(out)
	return append(out, sum[:]...), nil
}

// decode returns the entry of a file. A file of another key is corrupt.
func decode(key string, file []byte) (*Entry, error) {
	content, ok := bytes.CutPrefix(file, []byte(magic))
	if !ok || len(content) < 4+sha256.Size {
		return nil, errCorrupt
	}
	end := len(file) - sha256.Size
	if sum := sha256.Sum256(file[:end]); !bytes.Equal(sum[:], file[end:]) {
		return nil, errCorrupt
	}
	content = content[:len(content)-sha256.Size]
	length := binary.BigEndian.Uint32(content)
	content = content[4:]
	if length > maxHeader || int(length) > len(content) {
		return nil, errCorrupt
	}
	var head header
	if err := json.Unmarshal(content[:length], &head); err != nil || head.Key != key {
		return nil, errCorrupt
	}
	return &Entry{
		Body: content[length:], ContentType: head.ContentType, ETag: head.ETag, Source: head.Source,
	}, nil
}
