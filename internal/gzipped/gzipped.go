// Package gzipped compresses the bodies of HTTP responses.
package gzipped

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Accepted reports whether the sender of a request header takes a compressed body: it names
// gzip, with any weight but zero.
func Accepted(header http.Header) bool {
	for offer := range strings.SplitSeq(header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(offer), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return strings.Trim(strings.TrimPrefix(strings.TrimSpace(weight), "q="), "0.") != "" || weight == ""
		}
	}
	return false
}

// writers are reused: each has some hundred kilobytes of tables.
var writers = sync.Pool{New: func() any {
	writer, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is invalid
	}
	return writer
}}

// Writer returns a writer of the fastest level. Close ends it.
func Writer(out io.Writer) *gzip.Writer {
	writer, _ := writers.Get().(*gzip.Writer)
	writer.Reset(out)
	return writer
}

// Close writes what is left, and keeps the writer for the next body: it must not be used
// any more. The error is that of the output.
func Close(writer *gzip.Writer) error {
	err := writer.Close()
	writer.Reset(io.Discard)
	writers.Put(writer)
	return err
}
