package original

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/property"
)

// The precedence of directives does not depend on their order, case, spacing or number of lines: no-store, then rules
// for shared caches, then other rules. Of two ages the lower one counts, minus the age of the response.
func TestWhatASourceSaysAboutKeepingIsReadAsSharedCachesReadIt(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	property.Check(t, func(t *rapid.T) {
		header := http.Header{}
		var want Control
		rarely := func(name string) bool {
			return rapid.SampledFrom([]bool{false, false, false, false, true}).Draw(t, name)
		}
		shared, browsers := -1, -1
		bound := func(age int) { shared, browsers = max(age, 0), max(age, 0) }
		directives := rapid.SliceOf(rapid.SampledFrom([]string{
			"public", "must-revalidate", "immutable", "max-age", "max-age=", "max-age=soon",
			"stale-while-revalidate=5", "x-max-age=1", "",
		})).Draw(t, "other directives")

		switch rapid.SampledFrom([]string{"none", "a time", "no time"}).Draw(t, "Expires") {
		case "a time":
			expires, skew := rapid.IntRange(-100, 100).Draw(t, "seconds until Expires"), time.Duration(0)
			if rapid.Bool().Draw(t, "Date") { // from a different clock
				skew = time.Duration(rapid.IntRange(-1000, 1000).Draw(t, "skew")) * time.Second
				header.Set("Date", now.Add(skew).Format(http.TimeFormat))
			}
			header.Set("Expires", now.Add(skew+time.Duration(expires)*time.Second).Format(http.TimeFormat))
			bound(expires)
		case "no time":
			header.Set("Expires", rapid.SampledFrom([]string{"0", "-1", "never"}).Draw(t, "no time"))
			bound(0)
		}
		most := rapid.SampledFrom([]int{0, 3}).Draw(t, "times of a kind at most")
		for _, name := range []string{"max-age", "s-maxage"} { // the last one counts
			seconds := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(-5, 100), rapid.IntRange(50, 100)), 0, most).Draw(t, name)
			for _, each := range seconds {
				directives = append(directives, name+"="+rapid.SampledFrom([]string{"%d", `"%d"`}).Draw(t, "form"))
				directives[len(directives)-1] = fmt.Sprintf(directives[len(directives)-1], each)
			}
			if len(seconds) > 0 && name == "s-maxage" {
				shared = max(slices.Min(seconds), 0)
			} else if len(seconds) > 0 {
				bound(slices.Min(seconds))
			}
		}
		if rarely("no-cache") { // it overrides the ages
			directives = append(directives, rapid.SampledFrom([]string{"no-cache", `no-cache="set-cookie"`}).
				Draw(t, "form of no-cache"))
			bound(0)
		}
		if varies := rapid.SampledFrom([][]string{
			nil, nil, nil, {"Accept-Encoding", "Origin"}, {"*"}, {"Origin", "*"}, {"Accept-Encoding, *"}, {" *,Origin"},
		}).Draw(t, "Vary"); varies != nil {
			if header["Vary"] = varies; strings.Contains(strings.Join(varies, ""), "*") {
				bound(0)
			}
		}
		for _, name := range rapid.SliceOf(rapid.SampledFrom([]string{"no-store", "private", `private="a, b"`})).
			Draw(t, "forbidden") {
			directives = append(directives, name)
			want.NoStore = true
		}
		if rarely("to CDNs") {
			header.Set("CDN-Cache-Control", "must-revalidate, max-age=70")
			shared = 70
			if browsers < 0 {
				browsers = 70
			}
		}
		if rarely("forbidden to CDNs") {
			header.Add("CDN-Cache-Control", "No-Store")
			want.NoStore = true
		}
		used := 0
		if rarely("used") {
			used = rapid.IntRange(1, 200).Draw(t, "Age")
			header.Set("Age", strconv.Itoa(used))
		}
		if shared >= 0 {
			want.Bounded, want.MaxAge = true, time.Duration(max(shared-used, 0))*time.Second
			want.BrowserAge = want.MaxAge
		}
		if browsers >= 0 {
			want.BrowserAge = min(want.MaxAge, time.Duration(max(browsers-used, 0))*time.Second)
		}
		for _, directive := range rapid.Permutation(directives).Draw(t, "order") {
			if rapid.Bool().Draw(t, "upper case") {
				directive = strings.ToUpper(directive)
			}
			directive = rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "space") + directive
			lines := header["Cache-Control"]
			if len(lines) == 0 || rapid.Bool().Draw(t, "a line of its own") {
				header.Add("Cache-Control", directive)
			} else {
				lines[len(lines)-1] += "," + directive
			}
		}
		if got := ParseControl(header, now); got != want {
			t.Errorf("%v: %+v, want %+v", header, got, want)
		}
	})
}
