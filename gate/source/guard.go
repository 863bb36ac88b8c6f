package source

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
)

// forbidden contains the networks that the gate never connects to: networks of metadata services, which hand out
// credentials of the node, and addresses that are not hosts. The NetworkPolicy of the chart also blocks the metadata
// services.
var forbidden = []string{
	"0.0.0.0/8",          // this network
	"169.254.0.0/16",     // link-local; metadata of AWS, Google Cloud, Azure and others
	"168.63.129.16/32",   // host of virtual machines on Azure
	"100.100.100.200/32", // metadata of Alibaba Cloud
	"192.0.0.0/24",       // protocol assignments; metadata of Oracle Cloud
	"224.0.0.0/3",        // multicast, reserved, broadcast
	"::/96",              // unspecified; IPv4-compatible, deprecated
	"::ffff:0:0:0/96",    // IPv4-translated
	"2002::/16",          // 6to4, deprecated
	"fe80::/10",          // link-local
	"fec0::/10",          // site-local, deprecated
	"ff00::/8",           // multicast
	"fd00:ec2::/32",      // metadata of AWS
	"fd20:ce::254/128",   // metadata of Google Cloud
	"fd00:c1::/32",       // metadata of Oracle Cloud
	"fd00:42::/32",       // metadata of Scaleway
}

// nat64 contains networks whose addresses end with an embedded IPv4 address.
var nat64 = []string{"64:ff9b::/96", "64:ff9b:1::/48"}

var errForbidden = errors.New("address is not allowed")

// guard checks addresses after names are resolved, when a connection is made, so it also covers redirects and changed
// names. Private addresses are allowed, because sources are often in the same cluster.
type guard struct {
	// loopback allows loopback addresses, for sources configured with one.
	loopback bool
	// only contains the allowed addresses; nil allows all addresses that are not forbidden.
	only []netip.Addr
}

func newGuard(trusted *url.URL) guard {
	address, err := netip.ParseAddr(trusted.Hostname())
	return guard{loopback: err == nil && address.IsLoopback()}
}

func (g guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	host, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", address, err)
	}
	if g.refuses(host.Addr()) {
		return fmt.Errorf("connect to %s: %w", address, errForbidden)
	}
	return nil
}

func (g guard) refuses(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	if g.only != nil {
		return !slices.Contains(g.only, address)
	}
	if address.IsLoopback() {
		return !g.loopback
	}
	contains := func(network string) bool { return netip.MustParsePrefix(network).Contains(address) }
	if slices.ContainsFunc(forbidden, contains) {
		return true
	}
	raw := address.As16()
	return slices.ContainsFunc(nat64, contains) && guard{}.refuses(netip.AddrFrom4([4]byte(raw[12:])))
}
