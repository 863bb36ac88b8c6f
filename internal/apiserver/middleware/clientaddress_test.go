package middleware

import (
	"net/http"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

func TestAddressOfTheClient(t *testing.T) {
	for name, c := range map[string]struct {
		remote    string
		forwarded []string
		want      string
	}{
		"no proxy":                     {"192.0.2.1:1234", nil, "192.0.2.1"},
		"a header of a stranger":       {"192.0.2.1:1234", []string{"203.0.113.9"}, "192.0.2.1"},
		"a proxy without the header":   {"10.0.0.1:1234", nil, "10.0.0.1"},
		"a proxy":                      {"10.0.0.1:1234", []string{"203.0.113.9"}, "203.0.113.9"},
		"what the client claimed":      {"10.0.0.1:1234", []string{"127.0.0.1, 198.51.100.7,203.0.113.9"}, "203.0.113.9"},
		"two proxies":                  {"10.0.0.1:1234", []string{"198.51.100.7, 203.0.113.9, 10.1.2.3"}, "203.0.113.9"},
		"two headers":                  {"10.0.0.1:1234", []string{"203.0.113.9", "10.1.2.3"}, "203.0.113.9"},
		"proxies alone":                {"10.0.0.1:1234", []string{"10.3.3.3, 10.1.2.3"}, "10.3.3.3"},
		"a client with a port":         {"10.0.0.1:1234", []string{"203.0.113.9:99"}, "203.0.113.9"},
		"nonsense":                     {"10.0.0.1:1234", []string{"203.0.113.9, unknown"}, "10.0.0.1"},
		"IPv6":                         {"[2001:db8:1:2:3:4:5:6]:1234", nil, "2001:db8:1:2::/64"},
		"IPv6 of the same machine":     {"[2001:db8:1:2:ffff::]:1234", nil, "2001:db8:1:2::/64"},
		"IPv6 behind a proxy":          {"10.0.0.1:1234", []string{"[2001:db8:1:2::9]:99"}, "2001:db8:1:2::/64"},
		"IPv4 written as IPv6":         {"[::ffff:10.0.0.1]:1234", []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
		"an address that cannot be":    {"@", nil, "@"},
		"a proxy of IPv6 in its CIDR":  {"[fd00::1]:1234", []string{"203.0.113.9"}, "203.0.113.9"},
		"a stranger of another subnet": {"[fd01::1]:1234", []string{"203.0.113.9"}, "fd01::/64"},
	} {
		trusted, err := parseProxies([]string{"10.0.0.0/8", "fd00::/16"})
		expect.NoError(t, err)
		request := &http.Request{RemoteAddr: c.remote, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		if got := trusted.client(request); got != c.want {
			t.Errorf("%s: the client is %s, want %s", name, got, c.want)
		}
	}
	if _, err := parseProxies([]string{"10.0.0.1"}); err == nil {
		t.Error("an address without length is a CIDR")
	}
}
