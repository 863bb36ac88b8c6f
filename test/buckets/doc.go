// Package buckets tests the gate with servers of buckets that are maintained elsewhere: versitygw for S3, and
// fake-gcs-server for Google Cloud Storage. It is a module of its own, so that no program of the repository depends
// on them.
package buckets
