package apiserver

import (
	"testing"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func TestURLOfASource(t *testing.T) {
	t.Parallel()
	no := false
	for name, c := range map[string]struct {
		source  v1alpha1.Source
		probe   string
		want    string
		isImage bool
	}{
		"a web folder":          {v1alpha1.Source{BaseURL: "https://example.com/images/"}, "", "https://example.com/images", false},
		"a host":                {v1alpha1.Source{BaseURL: "http://example.com:8080"}, "", "http://example.com:8080/", false},
		"an image":              {v1alpha1.Source{BaseURL: "https://example.com/images/"}, "/my cat.jpg", "https://example.com/images/my%20cat.jpg", true},
		"CloudFront":            {v1alpha1.Source{Type: v1alpha1.CloudFront, Host: "d1.cloudfront.net"}, "/a/b.jpg", "https://d1.cloudfront.net/a/b.jpg", true},
		"CloudFront over HTTP":  {v1alpha1.Source{Type: v1alpha1.CloudFront, Host: "d1.cloudfront.net:81", SecureProtocol: &no}, "", "http://d1.cloudfront.net:81/", false},
		"Amazon S3":             {v1alpha1.Source{Type: v1alpha1.S3, Region: "eu-west-2"}, "/cat.jpg", "https://s3.eu-west-2.amazonaws.com/", false},
		"Amazon S3 in China":    {v1alpha1.Source{Type: v1alpha1.S3, Region: "cn-north-1"}, "", "https://s3.cn-north-1.amazonaws.com.cn/", false},
		"another service of S3": {v1alpha1.Source{Type: v1alpha1.S3, Endpoint: "http://minio:9000"}, "", "http://minio:9000/", false},
		"Google Cloud Storage":  {v1alpha1.Source{Type: v1alpha1.GoogleCloudStorage}, "/cat.jpg", "https://storage.googleapis.com/", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			darkroom := &v1alpha1.Darkroom{Spec: v1alpha1.DarkroomSpec{Source: c.source}}
			if c.probe != "" {
				darkroom.Spec.Probe = &v1alpha1.Probe{Path: c.probe}
			}
			target, isImage := sourceURL(darkroom)
			if target == nil || target.String() != c.want || isImage != c.isImage {
				t.Errorf("the URL is %v, of an image: %t", target, isImage)
			}
		})
	}
	if target, _ := sourceURL(&v1alpha1.Darkroom{}); target != nil {
		t.Errorf("a source without a URL has %v", target)
	}
}
