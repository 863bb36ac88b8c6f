package cmd

import (
	"strings"
	"testing"
)

func TestAReportHasWhatABugReportNeeds(t *testing.T) {
	text := written(t, suspect())["report"]
	for _, want := range []string{
		"kind: Darkroom", "kind: Deployment", "kind: Pod", "ImagePullBackOff",
		"2027-01-15T08:00:00Z", "program: v1", "Pod/photos-1",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
}
