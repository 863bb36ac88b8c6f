// Package images builds the images of the operator, its bundle and its catalog with buildah
// and podman, from the project's Dockerfiles with the project's make targets, for amd64 and
// arm64. It pushes them to a registry on loopback and checks the pushed images. The image of
// the operator must equal the one that `make image` builds without an engine.
//
// It has the build tag images: `make test-images` runs it. No public registry is used, so
// stand-ins replace the base images of the Dockerfiles (standins_test.go). Their compilers
// are those of this machine, mounted during the build. The contents of golang, node,
// distroless and opm are therefore not tested.
package images
