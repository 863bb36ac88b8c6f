package main

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"flag"
	"net/http"
	"strings"
	"time"
)

func s3Command(args []string, getenv func(string) string) (string, http.Handler, error) {
	flags := flag.NewFlagSet("s3", flag.ContinueOnError)
	addr := flags.String("addr", ":9000", "address to listen on")
	bucket := flags.String("bucket", "my_photos", "name of the bucket")
	region := flags.String("region", "", "region that signatures must name (default: any)")
	// No defaults from the environment here: -h prints defaults.
	accessKey := flags.String("access-key", "", "access key (default: $S3_ACCESS_KEY)")
	secretKey := flags.String("secret-key", "", "secret key (default: $S3_SECRET_KEY)")
	if err := flags.Parse(args); err != nil {
		return "", nil, err
	}
	v := &verifier{
		accessKey: cmp.Or(*accessKey, getenv("S3_ACCESS_KEY")),
		secretKey: cmp.Or(*secretKey, getenv("S3_SECRET_KEY")),
		region:    *region,
		now:       time.Now,
	}
	if v.accessKey == "" || v.secretKey == "" {
		return "", nil, errors.New("an access key and a secret key are needed")
	}
	images, err := newImages("images", "uploads")
	return *addr, &s3Server{bucket: *bucket, images: images, verifier: v}, err
}

// s3Server is one read-only bucket: GetObject and HeadObject, path style and
// virtual-host style, and no request without a valid signature.
type s3Server struct {
	bucket   string
	images   *images
	verifier *verifier
}

func (s *s3Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := s.verifier.verify(r); err != nil {
		writeS3Error(w, r, err)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		writeS3Error(w, r, &s3Error{http.StatusMethodNotAllowed, "MethodNotAllowed", "The bucket is read only."})
		return
	}
	bucket, key := s.locate(r)
	if bucket != s.bucket {
		writeS3Error(w, r, &s3Error{http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist."})
		return
	}
	content, err := s.images.read(key)
	if err != nil {
		writeS3Error(w, r, &s3Error{http.StatusNotFound, "NoSuchKey", "The specified key does not exist."})
		return
	}
	http.ServeContent(w, r, key, drawnAt, bytes.NewReader(content))
}

// locate takes the bucket from the host if the host starts with it, otherwise from
// the path.
func (s *s3Server) locate(r *http.Request) (bucket, key string) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	if strings.HasPrefix(r.Host, s.bucket+".") {
		return s.bucket, path
	}
	bucket, key, _ = strings.Cut(path, "/")
	return bucket, key
}

// s3Error is an error response of S3. It never contains the expected signature, because
// callers could then use it to sign the request.
type s3Error struct {
	status        int
	code, message string
}

func (e *s3Error) Error() string { return e.code + ": " + e.message }

func writeS3Error(w http.ResponseWriter, r *http.Request, err error) {
	var e *s3Error
	if !errors.As(err, &e) {
		e = &s3Error{http.StatusInternalServerError, "InternalError", "We encountered an internal error."}
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(e.status)
	if r.Method == http.MethodHead {
		return
	}
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName  xml.Name `xml:"Error"`
		Code     string
		Message  string
		Resource string
	}{Code: e.code, Message: e.message, Resource: r.URL.Path})
}
