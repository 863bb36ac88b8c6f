package reach

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"syscall"
)

// State is the outcome of a check.
type State string

// The states.
const (
	Reachable   State = "reachable"
	Unreachable State = "unreachable"
	NotChecked  State = "notChecked"
)

// Reason is the class of an outcome.
type Reason string

// The reasons.
const (
	// Answered: there was a response (Reachable).
	Answered Reason = "answered"
	// ImageServed: the image was served (Reachable).
	ImageServed Reason = "imageServed"
	// Redirected: the image is at another host, which was not asked (Reachable).
	Redirected Reason = "redirected"
	// NameNotFound: the name does not resolve (Unreachable).
	NameNotFound Reason = "nameNotFound"
	// ConnectionRefused: no process listens at the port (Unreachable).
	ConnectionRefused Reason = "connectionRefused"
	// Timeout: no response in time (Unreachable).
	Timeout Reason = "timeout"
	// Certificate: the certificate is not trusted (Unreachable).
	Certificate Reason = "certificate"
	// HTTPStatus: the response is not the image, see Result.Status (Unreachable).
	HTTPStatus Reason = "httpStatus"
	// NoConnection: any other failure of the connection (Unreachable).
	NoConnection Reason = "noConnection"
	// Address: the address must not be connected to (NotChecked).
	Address Reason = "address"
	// Proxy: the proxy of the server failed or refused (NotChecked).
	Proxy Reason = "proxy"
)

// Result is the outcome of a check.
type Result struct {
	State  State
	Reason Reason
	// Status is the HTTP status, if Reason is HTTPStatus.
	Status int
}

// errRefused is the error of an address that must not be connected to.
var errRefused = errors.New("the address is refused")

// judge classifies the response to a direct request.
func judge(got response) Result {
	if got.err != nil {
		return judgeError(got.err)
	}
	switch {
	case !got.isImage:
		return Result{Reachable, Answered, 0}
	case got.status < http.StatusMultipleChoices:
		return Result{Reachable, ImageServed, 0}
	case got.status < http.StatusBadRequest:
		return Result{Reachable, Redirected, 0}
	}
	return Result{Unreachable, HTTPStatus, got.status}
}

// judgeProxied classifies a response by way of a proxy. Failures of the proxy say nothing
// about the URL.
func judgeProxied(got response) Result {
	switch got.status {
	case http.StatusProxyAuthRequired, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return Result{NotChecked, Proxy, 0}
	}
	if result := judge(got); got.err == nil || result.Reason == Certificate || result.Reason == Timeout {
		return result
	}
	return Result{NotChecked, Proxy, 0}
}

// judgeError classifies the error of a request.
func judgeError(err error) Result {
	var (
		name      *net.DNSError
		untrusted *tls.CertificateVerificationError
		network   net.Error
	)
	switch {
	case errors.Is(err, errRefused):
		return Result{NotChecked, Address, 0}
	case errors.As(err, &name) && name.IsNotFound:
		return Result{Unreachable, NameNotFound, 0}
	case errors.Is(err, syscall.ECONNREFUSED):
		return Result{Unreachable, ConnectionRefused, 0}
	case errors.As(err, &untrusted):
		return Result{Unreachable, Certificate, 0}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return Result{Unreachable, Timeout, 0}
	}
	return Result{Unreachable, NoConnection, 0}
}
