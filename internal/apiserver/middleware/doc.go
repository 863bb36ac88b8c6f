// Package middleware has the middlewares that every request to the API server passes before
// its handler. Each protects against one threat, which its comment states. The order is in
// the package apiserver (handler.go). Middlewares that need the caller or the cluster, such as
// authentication, are there too.
//
// Middlewares respond to requests that they reject with problems (package problem).
package middleware
