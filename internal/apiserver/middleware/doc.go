// Package middleware has the middlewares that every request to the API server passes before
// its handler. Each protects against one threat, which its comment states. The order is in
// the package apiserver (handler.go). Middlewares that need the caller or the cluster, such as
// authentication, are there too.
//
// Rejected requests get a problem (package problem).
package middleware
