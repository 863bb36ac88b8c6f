package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// published is the "GET Object" example in AWS' description of Signature Version 4, with its published example keys.
// Neither code in this repository nor a library created this signature.
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
func published() (*http.Request, *verifier) {
	r := httptest.NewRequest(http.MethodGet, "http://examplebucket.s3.amazonaws.com/test.txt", nil)
	r.Header.Set("Range", "bytes=0-9")
	r.Header.Set("X-Amz-Content-Sha256", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
	r.Header.Set("X-Amz-Date", "20130524T000000Z")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 "+
		"Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"+
		"SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"+
		"Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
	return r, &verifier{
		accessKey: "AKIAIOSFODNN7EXAMPLE",
		secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		region:    "us-east-1",
		now:       func() time.Time { return time.Date(2013, time.May, 24, 0, 5, 0, 0, time.UTC) },
	}
}

func TestOnlyTheSignatureThatAWSPublishesIsAccepted(t *testing.T) {
	replace := func(name, old, new string) func(*http.Request, *verifier) {
		return func(r *http.Request, _ *verifier) {
			r.Header.Set(name, strings.Replace(r.Header.Get(name), old, new, 1))
		}
	}
	for name, test := range map[string]struct {
		change func(*http.Request, *verifier)
		want   error
	}{
		"as published":             {func(*http.Request, *verifier) {}, nil},
		"another secret key":       {func(_ *http.Request, v *verifier) { v.secretKey = "another" }, errSignature},
		"another access key":       {func(_ *http.Request, v *verifier) { v.accessKey = "another" }, errSignature},
		"another region":           {func(_ *http.Request, v *verifier) { v.region = "eu-west-2" }, errSignature},
		"another object":           {func(r *http.Request, _ *verifier) { r.URL.Path = "/secret.txt" }, errSignature},
		"another signed header":    {replace("Range", "9", "99"), errSignature},
		"another date than scoped": {replace("X-Amz-Date", "20130524T000000Z", "20130523T235959Z"), errSignature},
		"an old request":           {func(_ *http.Request, v *verifier) { v.now = time.Now }, errSkew},
		"no signature at all":      {func(r *http.Request, _ *verifier) { r.Header.Del("Authorization") }, errSignature},
	} {
		t.Run(name, func(t *testing.T) {
			r, v := published()
			test.change(r, v)
			if err := v.verify(r); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}
