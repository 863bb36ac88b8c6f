package signing

import (
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

const key = "the first key, 0123456789"

func TestSignaturesAreThoseThatTheGateAccepts(t *testing.T) {
	recorded, err := os.ReadFile("../../gate/testdata/signatures.txt")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for line := range strings.Lines(string(recorded)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		u, err := url.Parse(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		compared++
		if got, want := Sign(key, *u, time.Time{}).Query().Get("s"), u.Query().Get("s"); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	if compared < 5 {
		t.Errorf("%d URLs", compared)
	}
}

func TestAURLExpires(t *testing.T) {
	u, _ := url.Parse("https://photos.example.com/a.jpg?w=20&expires=1&s=old#top")
	got := Sign(key, *u, time.Unix(4102444800, 0)).String()
	// Of gate/testdata/signatures.txt.
	want := "https://photos.example.com/a.jpg?expires=4102444800&s=9c12fbf807b155f79a798fbebf614338515143d1568085a06b527bd7e060fd6a&w=20#top"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTheFirstKeySigns(t *testing.T) {
	if got, err := FirstKey("\n  " + key + " \nthe second key, 0123456789"); got != key || err != nil {
		t.Errorf("%q %v", got, err)
	}
	for _, keys := range []string{"", "\n", "short-secret"} {
		if _, err := FirstKey(keys); err == nil || strings.Contains(err.Error(), "short-secret") {
			t.Errorf("%q: %v", keys, err)
		}
	}
}
