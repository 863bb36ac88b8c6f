package original

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Control is what a source says about keeping an original. The zero value says nothing.
type Control struct {
	// NoStore is set for originals that must not be kept.
	NoStore bool
	// Bounded is set if the original may be kept for MaxAge only, and by browsers for BrowserAge, which is not longer.
	Bounded            bool
	MaxAge, BrowserAge time.Duration
}

// ParseControl parses the headers of a source as RFC 9111 defines them for shared caches. What its
// own caches have used of the time is over. What it says to CDNs (RFC 9213) counts before s-maxage.
func ParseControl(header http.Header, now time.Time) (c Control) {
	ages, forCDNs := map[string]time.Duration{}, map[string]time.Duration{}
	c.NoStore = parseDirectives(header.Values("Cache-Control"), ages)
	c.NoStore = parseDirectives(header.Values("CDN-Cache-Control"), forCDNs) || c.NoStore
	for _, name := range []string{"max-age", "s-maxage", "no-cache"} { // the last one counts
		if age, found := forCDNs[name]; found {
			ages["cdn"] = age
		}
	}
	if strings.Contains(strings.Join(header.Values("Vary"), ","), "*") { // each request may get another image
		ages["no-cache"] = 0
	}
	if expires := header.Get("Expires"); expires != "" {
		at, _ := http.ParseTime(expires) // zero, which is long ago, for 0 and other values that are no time
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

// parseDirectives adds the shortest age of each name, and reports whether keeping is forbidden.
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

// seconds parses a number of seconds, and reports whether it is one. A negative one is none at all.
func seconds(text string) (time.Duration, bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	return time.Duration(max(n, 0)) * time.Second, err == nil
}
