// Package certs creates the certificates and keys of a test cluster: three
// authorities (cluster, etcd, aggregation layer), the certificates they sign,
// and the key that signs service account tokens. Each cluster gets new ones,
// which are valid for a year.
package certs
