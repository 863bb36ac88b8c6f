// Package images builds the images of the operator, its bundle and its catalog with real
// engines, buildah and podman, from the project's Dockerfiles by the project's targets,
// for amd64 and arm64, pushes them to a registry on loopback, and looks at what arrived.
// The operator's must be the one that `make image` makes without an engine.
//
// It has the build tag images: `make test-images` runs it. No registry of the internet is
// asked, so stand-ins take the place of the images that the Dockerfiles build on
// (standins_test.go): the compilers in theirs are this machine's, mounted for the time of
// the build. What stays untested is therefore what golang, node, distroless and opm
// themselves contain.
package images
