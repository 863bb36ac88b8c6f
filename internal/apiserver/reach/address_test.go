package reach

import (
	"net/netip"
	"testing"
)

func TestAddressesThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"127.0.0.1", "127.8.9.1", "::1", "0.0.0.0", "0.1.2.3", "::", "169.254.169.254", "169.254.0.1", "fe80::1", "fe80::1%eth0",
		"224.0.0.1", "239.255.255.250", "ff02::1", "ff05::2", "255.255.255.255", "240.0.0.1", "192.0.0.192", "100.100.100.200",
		"168.63.129.16", "fd00:ec2::254", "fd20:ce::254", "fec0::1", "::127.0.0.1",
		"::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:168.63.129.16", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a9fe:a9fe::1",
	} {
		if !IsRefused(netip.MustParseAddr(address)) {
			t.Errorf("%s is allowed", address)
		}
	}
	if !IsRefused(netip.Addr{}) {
		t.Error("an address that is not set is allowed")
	}
}

func TestAddressesThatAreAllowed(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"10.0.0.1", "172.16.3.4", "192.168.1.1", "100.64.0.1", "93.184.216.34", "2606:2800:220:1::1", "fd12:3456::1",
		"::ffff:10.0.0.1", "64:ff9b::5db8:d822", "2002:5db8:d822::1",
	} {
		if IsRefused(netip.MustParseAddr(address)) {
			t.Errorf("%s is refused", address)
		}
	}
}
