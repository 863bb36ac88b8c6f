// Package certs makes the certificates and keys of a test cluster: three
// authorities (cluster, etcd, aggregation layer), what they sign, and the key
// that signs service account tokens. Everything is made anew for each cluster
// and is valid for a year.
package certs
