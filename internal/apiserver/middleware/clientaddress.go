package middleware

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ClientAddress determines the address of the client, which AddressOf returns, for limits of unauthenticated callers.
// It trusts the entries of X-Forwarded-For that proxies in the CIDRs have written.
func ClientAddress(trusted []string, next http.Handler) (http.Handler, error) {
	proxies, err := parseProxies(trusted)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(WithAddress(r.Context(), proxies.client(r))))
	}), nil
}

type addressKey struct{}

// WithAddress returns a context with the address of a client.
func WithAddress(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, addressKey{}, address)
}

// AddressOf returns the address of the client in a context, or an empty string.
func AddressOf(ctx context.Context) string {
	address, _ := ctx.Value(addressKey{}).(string)
	return address
}

// proxies are the addresses of trusted proxies.
type proxies []netip.Prefix

func parseProxies(cidrs []string) (proxies, error) {
	var out proxies
	for _, cidr := range cidrs {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil {
			return nil, fmt.Errorf("trusted proxy %q: must be a CIDR, for example 10.0.0.0/8", cidr)
		}
		out = append(out, prefix.Masked())
	}
	return out, nil
}

func (p proxies) trust(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(address) })
}

// client returns the address of the client. Any client can send X-Forwarded-For, and each proxy appends the address of
// its own client. Therefore the header is read from the right, as long as trusted proxies wrote the entries. IPv6
// addresses are reduced to their /64, because a single machine usually has the whole /64.
func (p proxies) client(request *http.Request) string {
	host, _, err := net.SplitHostPort(request.RemoteAddr)
	if err != nil {
		host = request.RemoteAddr
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	address = address.Unmap()
	hops := strings.Split(strings.Join(request.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !p.trust(address) {
			break
		}
		before, err := parseHop(hop)
		if err != nil {
			break
		}
		address = before
	}
	if address.Is6() {
		if network, err := address.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return address.String()
}

// parseHop reads an address with or without a port.
func parseHop(hop string) (netip.Addr, error) {
	hop = strings.TrimSpace(hop)
	if withPort, err := netip.ParseAddrPort(hop); err == nil {
		return withPort.Addr().Unmap(), nil
	}
	address, err := netip.ParseAddr(strings.Trim(hop, "[]"))
	return address.Unmap(), err
}
