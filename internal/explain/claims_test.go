package explain

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

func TestTheOldestClaimantIsFirst(t *testing.T) {
	older, younger := holder().Obj(), darkrooms.New("zoo", "team-z").SubDomains("photos").
		Status(func(s *v1alpha1.DarkroomStatus) { s.BaseDomain = "example.com" }).Obj()
	other := darkrooms.New("other", "team-a").Obj()
	got := Claimants([]*v1alpha1.Darkroom{younger, other, older}, host, HostsOf)
	if len(got) != 2 || got[0] != older || got[1] != younger {
		t.Errorf("claimants are %v", got)
	}
}

// TestAHostResemblesItselfAfterFewEdits, and not after many.
func TestAHostResemblesItselfAfterFewEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		host := rapid.StringMatching(`[a-z]{6,12}\.example\.com`).Draw(t, "host")
		edited := host
		for range rapid.IntRange(0, maxEdits).Draw(t, "edits") {
			at := rapid.IntRange(0, len(edited)-1).Draw(t, "at")
			edited = edited[:at] + rapid.StringMatching(`[0-9]{0,2}`).Filter(func(s string) bool { return len(s) < 2 }).
				Draw(t, "text") + edited[at+1:]
		}
		if !resembles(host, edited) || !resembles(edited, host) {
			t.Errorf("%s does not resemble %s", edited, host)
		}
		if far := "000" + host[3:]; resembles(far, host) {
			t.Errorf("%s resembles %s", far, host)
		}
	})
}
