package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"time"
)

func s3Command(args []string) (string, http.Handler, error) {
	v := &verifier{now: time.Now}
	flags := flag.NewFlagSet("s3", flag.ContinueOnError)
	addr := flags.String("addr", ":9000", "address to listen on")
	bucket := flags.String("bucket", "", "name of the bucket")
	host := flags.String("host", "",
		"host of the service, without a port: requests to BUCKET.host use virtual-hosted style")
	flags.StringVar(&v.region, "region", "", "region that signatures must contain")
	flags.StringVar(&v.accessKey, "access-key", "", "access key")
	flags.StringVar(&v.secretKey, "secret-key", "", "secret key")
	if err := flags.Parse(args); err != nil {
		return "", nil, err
	}
	if *bucket == "" || v.region == "" || v.accessKey == "" || v.secretKey == "" {
		return "", nil, errors.New("a bucket, its region, an access key and a secret key are required")
	}
	return *addr, &s3Server{bucket: *bucket, host: *host, verifier: v}, nil
}

// s3Server serves one read-only bucket: GetObject and HeadObject, with valid signatures only.
type s3Server struct {
	bucket, host string
	verifier     *verifier
}

// locate returns the bucket and the key of a request: in path style, or in virtual-hosted style below the host.
func (s *s3Server) locate(r *http.Request) (bucket, key string) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	name, _, _ := strings.Cut(r.Host, ":")
	if bucket, isBelow := strings.CutSuffix(name, "."+s.host); isBelow && s.host != "" {
		return bucket, path
	}
	bucket, key, _ = strings.Cut(path, "/")
	return bucket, key
}

func (s *s3Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := s.verifier.verify(r); err != nil {
		writeS3Error(w, err)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		writeS3Error(w, &s3Error{http.StatusMethodNotAllowed, "MethodNotAllowed", "The bucket is read only."})
		return
	}
	bucket, key := s.locate(r)
	if bucket != s.bucket {
		writeS3Error(w, &s3Error{http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist."})
		return
	}
	content, err := read(key, "images/", "uploads/")
	if err != nil {
		writeS3Error(w, &s3Error{http.StatusNotFound, "NoSuchKey", "The specified key does not exist."})
		return
	}
	http.ServeContent(w, r, key, drawnAt, bytes.NewReader(content))
}

// s3Error is an error response of S3. It never contains the expected signature, because
// callers could then use it to sign the request.
type s3Error struct {
	status        int
	code, message string
}

func (e *s3Error) Error() string { return e.code + ": " + e.message }

func writeS3Error(w http.ResponseWriter, err error) {
	var e *s3Error
	if !errors.As(err, &e) {
		e = &s3Error{http.StatusInternalServerError, "InternalError", "We encountered an internal error."}
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(e.status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>\n", e.code, e.message)
}
