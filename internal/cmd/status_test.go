package cmd

import (
	"strings"
	"testing"
)

func TestStatusSaysWhyAndWhatToDo(t *testing.T) {
	text := written(t, suspect())["status"]
	for _, want := range []string{
		"Darkroom team-a/photos: Degraded", "A pod cannot pull its image",
		"→ Check version, image.repository and image.pullSecrets.",
		"ImagePullBackOff", "3 restarts", "Pod photos-1", "5m",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the status lacks %q:\n%s", want, text)
		}
	}
	if lines := strings.Count(text, "\n"); lines > 40 {
		t.Errorf("%d lines are more than a screen", lines)
	}
}
