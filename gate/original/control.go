package original

import (
	"strconv"
	"strings"
	"time"
)

// Control is what a source says about keeping an original. The zero value says nothing.
type Control struct {
	// NoStore is set for originals that must not be kept.
	NoStore bool
	// Bounded is set if the original may be kept for MaxAge only.
	Bounded bool
	MaxAge  time.Duration
}

// ParseControl parses the header Cache-Control of a source. What is for shared caches counts before
// what is for all.
func ParseControl(header string) (c Control) {
	shared := false
	for directive := range strings.SplitSeq(strings.ToLower(header), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		seconds, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 32)
		age := time.Duration(max(seconds, 0)) * time.Second
		switch {
		case name == "no-store", name == "private":
			c.NoStore = true
		case name == "no-cache":
			c.Bounded, c.MaxAge, shared = true, 0, true
		case err != nil:
		case name == "s-maxage" && (!c.Bounded || !shared || age < c.MaxAge):
			c.Bounded, c.MaxAge, shared = true, age, true
		case name == "max-age" && !shared:
			c.Bounded, c.MaxAge = true, age
		}
	}
	return c
}
