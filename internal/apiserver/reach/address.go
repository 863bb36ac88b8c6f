package reach

import "net/netip"

// refused are networks that are never connected to. IsRefused adds those that the package
// netip knows.
var refused = func() []netip.Prefix {
	var out []netip.Prefix
	for _, network := range []string{
		"0.0.0.0/8",          // this network
		"240.0.0.0/4",        // reserved, and broadcast
		"192.0.0.0/24",       // protocol assignments; metadata of Oracle Cloud
		"100.100.100.200/32", // metadata of Alibaba Cloud
		"168.63.129.16/32",   // the host of virtual machines of Azure
		"fd00:ec2::/32",      // metadata and other services of AWS
		"fd20:ce::254/128",   // metadata of Google Cloud
		"fec0::/10",          // site-local, deprecated
		"::/96",              // IPv4-compatible, deprecated
	} {
		out = append(out, netip.MustParsePrefix(network))
	}
	return out
}()

// Prefixes of IPv6 addresses that have an IPv4 address in them, and where it begins.
var embedding = map[netip.Prefix]int{
	netip.MustParsePrefix("64:ff9b::/96"): 12, // NAT64
	netip.MustParsePrefix("2002::/16"):    2,  // 6to4
}

// IsRefused reports whether an address must not be connected to: those of this machine, of
// the link and of the metadata services of clouds, multicast, and those that are not
// addresses of a host.
//
// Private addresses are allowed, because sources are often in the same network.
func IsRefused(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	if !address.IsValid() || address.IsUnspecified() || address.IsLoopback() || address.IsMulticast() || address.IsLinkLocalUnicast() {
		return true
	}
	for _, network := range refused {
		if network.Contains(address) {
			return true
		}
	}
	for network, at := range embedding {
		if network.Contains(address) {
			raw := address.As16()
			return IsRefused(netip.AddrFrom4([4]byte(raw[at : at+4])))
		}
	}
	return false
}
