package main

import (
	"net/http/httptest"
	"testing"
)

func TestABucketIsNamedByThePathOrBelowTheHost(t *testing.T) {
	for url, want := range map[string][2]string{
		"http://10.0.0.1:9000/my_photos/uploads/cat.jpg":         {"my_photos", "uploads/cat.jpg"},
		"http://minio.storage.svc:9000/photos/uploads/cat.jpg":   {"photos", "uploads/cat.jpg"},
		"http://photos.minio.storage.svc:9000/uploads/cat.jpg":   {"photos", "uploads/cat.jpg"},
		"http://photos.example.com/minio.storage.svc/images/cat": {"minio.storage.svc", "images/cat"},
	} {
		bucket, key := (&s3Server{host: "minio.storage.svc"}).locate(httptest.NewRequest("GET", url, nil))
		if got := [2]string{bucket, key}; got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
	bucket, _ := (&s3Server{}).locate(httptest.NewRequest("GET", "http://a.b/photos/cat.jpg", nil))
	if bucket != "photos" {
		t.Errorf("without a host the bucket is %q", bucket)
	}
}
