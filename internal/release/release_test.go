package release

import (
	"testing"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	helmtime "helm.sh/helm/v3/pkg/time"
)

func TestAPendingReleaseIsInProgressForTwoMinutes(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for name, test := range map[string]struct {
		began, deleted time.Duration // before now
		want           bool
	}{
		"just begun":              {began: time.Second, want: true},
		"begun long ago":          {began: 3 * time.Minute, want: false},
		"an uninstall just begun": {began: time.Hour, deleted: time.Second, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			pending := &helmrelease.Release{Info: &helmrelease.Info{LastDeployed: helmtime.Time{Time: now.Add(-test.began)}}}
			if test.deleted != 0 {
				pending.Info.Deleted = helmtime.Time{Time: now.Add(-test.deleted)}
			}
			if got := inProgress(pending, now); got != test.want {
				t.Errorf("in progress: %t, want %t", got, test.want)
			}
		})
	}
}
