package apiserver

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies are the addresses of proxies whose X-Forwarded-For is believed.
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

// client returns the address that a request comes from. Anybody can write
// X-Forwarded-For: each proxy adds on the right the address that it was called from. So
// the header is read from the right, for as long as those who wrote it are trusted.
// IPv6 addresses are those of a /64, the least that one machine may use at will.
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
