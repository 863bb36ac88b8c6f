// Darkroom is a test double of the Darkroom image proxy (github.com/gojek/darkroom).
//
// The end-to-end tests run Darkroom resources on machines that cannot pull images. They need a program in the pod that
// reads the environment variables written by the operator, so that a wrong or missing variable makes a test fail. This
// program honors the environment, the routes and the failure modes of Darkroom v0.4.2, written from its described
// behavior. It is not Darkroom, is never shipped, and is not suitable for production. README.md lists the known
// differences.
//
// config.go reads the environment, source.go and s3.go fetch the original within the limits of limit.go and breaker.go,
// params.go and process.go create the requested image, handler.go serves it over HTTP, and server.go starts and drains
// the server.
package main
