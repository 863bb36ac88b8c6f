// Package buckets tests the gate with servers of buckets that are maintained by other projects: versitygw for S3, and
// fake-gcs-server for Google Cloud Storage. It is its own module, so that no program of the repository depends on them.
package buckets
