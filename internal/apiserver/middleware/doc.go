// Package middleware has the middlewares that every request to the API server passes before
// its handler. Each protects against one threat, which its comment states. The order is in
// the package apiserver (handler.go). What depends on the caller or on the cluster, such as
// authentication, is there too.
//
// Middlewares respond to requests that they reject with problems (package problem).
package middleware
