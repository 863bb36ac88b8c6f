package main

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

const (
	algorithm  = "AWS4-HMAC-SHA256"
	timeFormat = "20060102T150405Z"
	// maxSkew between the clocks of client and server, as AWS has it.
	maxSkew = 15 * time.Minute
)

// verifier checks Signature Version 4 in the Authorization header. It does no
// cryptography of its own: it takes the parts of the request that the client says
// it signed, has AWS' signer sign them with the secret key, and compares.
// Presigned URLs are not accepted, and bodies are not read.
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
type verifier struct {
	accessKey, secretKey string
	// region that the client must sign for; empty means any.
	region string
	now    func() time.Time
}

var (
	errAnonymous = &s3Error{http.StatusForbidden, "AccessDenied", "Access Denied."}
	errMalformed = &s3Error{http.StatusBadRequest, "AuthorizationHeaderMalformed", "The authorization header is malformed."}
	errAccessKey = &s3Error{http.StatusForbidden, "InvalidAccessKeyId", "The access key does not exist."}
	errSkew      = &s3Error{http.StatusForbidden, "RequestTimeTooSkewed", "The request time differs too much from the server's."}
	errSignature = &s3Error{http.StatusForbidden, "SignatureDoesNotMatch", "The signature does not match."}
)

// verify returns an *s3Error for a request that may not be served.
func (v *verifier) verify(r *http.Request) error {
	header := r.Header.Get("Authorization")
	if header == "" {
		return errAnonymous
	}
	claim, err := parseAuthorization(header)
	if err != nil {
		return err
	}
	signed, err := time.Parse(timeFormat, r.Header.Get("X-Amz-Date"))
	switch {
	case err != nil, claim.date != signed.Format("20060102"), claim.service != "s3":
		return errMalformed
	case v.region != "" && claim.region != v.region:
		return &s3Error{http.StatusBadRequest, "AuthorizationHeaderMalformed", fmt.Sprintf("The region %q is wrong; expecting %q.", claim.region, v.region)}
	case claim.accessKey != v.accessKey:
		return errAccessKey
	case v.now().Sub(signed).Abs() > maxSkew:
		return errSkew
	}
	expected, err := v.sign(r, claim, r.Header.Get("X-Amz-Content-Sha256"), signed)
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare([]byte(expected.signature), []byte(claim.signature)) != 1 {
		return errSignature
	}
	return nil
}

// sign signs the parts of the request that the claim lists, with the expected key.
func (v *verifier) sign(r *http.Request, claim authorization, payload string, at time.Time) (authorization, error) {
	replica := &http.Request{
		Method: r.Method,
		Host:   r.Host,
		URL:    &url.URL{Scheme: "http", Host: r.Host, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery},
		Header: http.Header{},
	}
	for _, name := range claim.headers {
		switch name {
		case "host": // from the request's Host
		case "content-length":
			replica.ContentLength = r.ContentLength
		default:
			replica.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
		}
	}
	credentials := aws.Credentials{AccessKeyID: v.accessKey, SecretAccessKey: v.secretKey}
	// S3 alone signs the path as it is sent, escaped once.
	err := v4.NewSigner().SignHTTP(r.Context(), credentials, replica, payload, "s3", claim.region, at,
		func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err != nil {
		return authorization{}, fmt.Errorf("compute the expected signature: %w", err)
	}
	return parseAuthorization(replica.Header.Get("Authorization"))
}

// authorization is the Authorization header taken apart.
type authorization struct {
	accessKey, date, region, service string
	// headers are the names of the signed headers, in lower case.
	headers   []string
	signature string
}

func parseAuthorization(header string) (authorization, error) {
	scheme, rest, _ := strings.Cut(header, " ")
	if scheme != algorithm {
		return authorization{}, errMalformed
	}
	fields := map[string]string{}
	for field := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		fields[name] = value
	}
	scope := strings.Split(fields["Credential"], "/")
	if len(scope) != 5 || scope[4] != "aws4_request" || fields["SignedHeaders"] == "" || fields["Signature"] == "" {
		return authorization{}, errMalformed
	}
	return authorization{
		accessKey: scope[0], date: scope[1], region: scope[2], service: scope[3],
		headers:   strings.Split(fields["SignedHeaders"], ";"),
		signature: fields["Signature"],
	}, nil
}
