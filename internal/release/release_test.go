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
		began, deleted, seen time.Duration // how long ago
		want                 bool
	}{
		"just started":                                  {began: time.Second, seen: time.Second, want: true},
		"started long ago":                              {began: 3 * time.Minute, seen: time.Second, want: false},
		"an uninstall that just started":                {began: time.Hour, deleted: time.Second, seen: time.Second, want: true},
		"started, by a clock ahead of ours":             {began: -3 * time.Hour, seen: time.Second, want: true},
		"first seen long ago, by a clock ahead of ours": {began: -3 * time.Hour, seen: 3 * time.Minute, want: false},
	} {
		t.Run(name, func(t *testing.T) {
			pending := &helmrelease.Release{Info: &helmrelease.Info{LastDeployed: helmtime.Time{Time: now.Add(-test.began)}}}
			if test.deleted != 0 {
				pending.Info.Deleted = helmtime.Time{Time: now.Add(-test.deleted)}
			}
			if got := inProgress(pending, now.Add(-test.seen), now); got != test.want {
				t.Errorf("in progress: %t, want %t", got, test.want)
			}
		})
	}
}
