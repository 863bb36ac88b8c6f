package storage

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Limits for decoding a release: its size in bytes of JSON, and its number of JSON tokens. Users can create Secrets
// with the labels of a revision. A megabyte of gzip can contain a gigabyte of JSON, and three bytes of JSON can take a
// hundred bytes of memory. The largest release of a Darkroom has a few megabytes and tens of thousands of tokens.
const maxRelease, maxTokens = 8 << 20, 200_000

var errNoRelease = errors.New("the Secret contains no readable release")

// checkSize returns an error if an encoded release is too large to be decoded.
func checkSize(encoded []byte) error {
	content := bufio.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(encoded)))
	bounded := &io.LimitedReader{R: content, N: maxRelease + 1}
	if magic, _ := content.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) { // the first versions of Helm did not compress releases
		compressed, err := gzip.NewReader(content)
		if err != nil {
			return fmt.Errorf("%w: %w", errNoRelease, err)
		}
		bounded.R = compressed
	}
	tokens := json.NewDecoder(bounded)
	for n := 0; ; n++ {
		_, err := tokens.Token()
		switch {
		case bounded.N <= 0:
			return fmt.Errorf("the release is larger than %d MiB", maxRelease>>20)
		case n > maxTokens:
			return fmt.Errorf("the release has more than %d names and values", maxTokens)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%w: %w", errNoRelease, err)
		}
	}
}
