// Package build compiles the programs a test cluster is made of from their Go
// modules: Kubernetes, etcd, kwok, CoreDNS, Traefik and the pause container.
//
// The versions are written once, in the go.mod files under modules/ (with
// checksums in the go.sum beside each). This package reads them from there, so
// changing a version means: edit that go.mod, run `go mod tidy` beside it.
//
// The programs of one module are compiled by one `go build`. A binary is built again
// only when its stamp file no longer matches: the stamp names the version, the toolchain, the
// platform and, unless the component is built inside its downloaded module, the checksums of
// go.mod and go.sum.
package build
