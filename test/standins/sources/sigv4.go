package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// maxSkew is the maximum difference between the clocks of client and server, as for AWS.
const maxSkew = 15 * time.Minute

// verifier checks Signature Version 4 in the Authorization header. It implements no cryptography: it signs the parts of
// the request that the client claims to have signed with AWS' signer, the keys and the region, and compares. Presigned
// URLs are not accepted, and bodies are not read.
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
type verifier struct {
	accessKey, secretKey, region string
	now                          func() time.Time
}

var (
	errSkew = &s3Error{
		http.StatusForbidden, "RequestTimeTooSkewed",
		"The request time differs too much from the server's.",
	}
	errSignature = &s3Error{http.StatusForbidden, "SignatureDoesNotMatch", "The signature does not match."}
)

// verify returns an *s3Error for a request that must not be served.
func (v *verifier) verify(r *http.Request) error {
	signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil {
		return errSignature
	}
	if v.now().Sub(signed).Abs() > maxSkew {
		return errSkew
	}
	expected, err := v.sign(r, signed)
	if err != nil {
		return err
	}
	// Clients use different spaces between the fields.
	if strings.ReplaceAll(r.Header.Get("Authorization"), " ", "") != strings.ReplaceAll(expected, " ", "") {
		return errSignature
	}
	return nil
}

// sign returns the Authorization header for the parts of a request that the client claims to have signed.
func (v *verifier) sign(r *http.Request, at time.Time) (string, error) {
	replica := &http.Request{
		Method: r.Method,
		Host:   r.Host,
		URL:    &url.URL{Scheme: "http", Host: r.Host, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery},
		Header: http.Header{},
	}
	_, fields, _ := strings.Cut(r.Header.Get("Authorization"), "SignedHeaders=")
	names, _, _ := strings.Cut(fields, ",")
	for name := range strings.SplitSeq(names, ";") {
		switch name {
		case "host": // from the request's Host
		case "content-length":
			replica.ContentLength = r.ContentLength
		default:
			replica.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
		}
	}
	// Only S3 signs the path as it is sent, escaped once.
	err := v4.NewSigner().SignHTTP(r.Context(), aws.Credentials{AccessKeyID: v.accessKey, SecretAccessKey: v.secretKey},
		replica,
		r.Header.Get("X-Amz-Content-Sha256"), "s3", v.region, at,
		func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err != nil {
		return "", fmt.Errorf("compute the expected signature: %w", err)
	}
	return replica.Header.Get("Authorization"), nil
}
