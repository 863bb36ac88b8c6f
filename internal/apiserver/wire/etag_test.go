package wire

import (
	"testing"
)

func TestIfMatch(t *testing.T) {
	for header, want := range map[string]bool{
		`"7"`: true, `*`: true, `"6", "7"`: true, `W/"7"`: true, `"70"`: false, `7`: false, `""`: false,
	} {
		if Matches(header, "7") != want {
			t.Errorf("%s matches: %t", header, !want)
		}
	}
}
