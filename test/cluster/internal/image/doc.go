// Package image packs a static program as a container image of one layer,
// FROM scratch, without a container engine or a registry. The result is a
// docker-archive tar, which containerd, podman and docker import. The same
// input gives the same bytes.
package image
