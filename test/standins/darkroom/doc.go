// Darkroom is a test double of the Darkroom image proxy (github.com/gojek/darkroom).
//
// The end-to-end tests run Darkroom resources on machines that can pull no
// image. They need something in the pod that reads the environment the operator
// writes, so that a wrong or missing variable makes a test fail. This program is
// that: it honors the environment, the routes and above all the failure modes of
// Darkroom v0.4.2, written from its described behavior. It is not Darkroom, is
// never shipped, and is not suitable for production. README.md lists what is known to differ.
//
// The story is: config.go reads the environment, source.go and s3.go fetch the
// original within the bounds of limit.go and breaker.go, params.go and process.go make the
// image that the URL asks for, handler.go puts the three behind HTTP, and server.go starts and drains it.
package main
