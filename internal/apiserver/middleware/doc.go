// Package middleware contains the middlewares that every request to the API server passes before its handler. Each
// protects against one threat, which its comment describes. Package apiserver determines the order (handler.go).
// Middlewares that need the caller or the cluster, such as authentication, are also there.
//
// Rejected requests receive a problem (package problem).
package middleware
