package original

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Control contains the caching rules of a source for an original. The zero value contains no rules.
type Control struct {
	// NoStore forbids storing the original.
	NoStore bool
	// Bounded limits the age to MaxAge in the gate and to BrowserAge, which is never longer, in browsers.
	Bounded            bool
	MaxAge, BrowserAge time.Duration
}

// ParseControl parses response headers for shared caches (RFC 9111). The time in caches of the source is subtracted.
// CDN-Cache-Control (RFC 9213) takes precedence over s-maxage.
func ParseControl(header http.Header, now time.Time) (c Control) {
	ages, forCDNs := map[string]time.Duration{}, map[string]time.Duration{}
	c.NoStore = parseDirectives(header.Values("Cache-Control"), ages)
	c.NoStore = parseDirectives(header.Values("CDN-Cache-Control"), forCDNs) || c.NoStore
	for _, name := range []string{"max-age", "s-maxage", "no-cache"} { // the last one takes precedence
		if age, found := forCDNs[name]; found {
			ages["cdn"] = age
		}
	}
	if strings.Contains(strings.Join(header.Values("Vary"), ","), "*") { // each request may get a different image
		ages["no-cache"] = 0
	}
	if expires := header.Get("Expires"); expires != "" {
		at, _ := http.ParseTime(expires) // the zero time, in the past, for 0 and other invalid dates
		if date, err := http.ParseTime(header.Get("Date")); err == nil {
			now = date
		}
		ages["expires"] = at.Sub(now)
	}
	used, _ := seconds(header.Get("Age"))
	first := func(names ...string) (time.Duration, bool) {
		for _, name := range names {
			if age, found := ages[name]; found {
				return max(age, used) - used, true
			}
		}
		return 0, false
	}
	c.MaxAge, c.Bounded = first("cdn", "no-cache", "s-maxage", "max-age", "expires")
	c.BrowserAge = c.MaxAge
	if age, found := first("no-cache", "max-age", "expires"); found {
		c.BrowserAge = min(c.MaxAge, age)
	}
	return c
}

// parseDirectives adds the lowest age for each name to ages, and reports whether storing is forbidden.
func parseDirectives(lines []string, ages map[string]time.Duration) (noStore bool) {
	for directive := range strings.SplitSeq(strings.ToLower(strings.Join(lines, ",")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		age, known := seconds(strings.Trim(value, `"`))
		if shortest, found := ages[name]; name == "no-cache" || known && (!found || age < shortest) {
			ages[name] = age
		}
		noStore = noStore || name == "no-store" || name == "private"
	}
	return noStore
}

// seconds parses a number of seconds, and reports whether it is valid. Negative numbers are invalid.
func seconds(text string) (time.Duration, bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	return time.Duration(max(n, 0)) * time.Second, err == nil
}
