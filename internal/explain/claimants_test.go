package explain

import (
	"testing"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

func TestClaimantsServeOrWantTheHost(t *testing.T) {
	serving, wanting := holder().Obj(), darkrooms.New("zoo", "team-z").SubDomains("photos").
		Status(func(s *v1alpha1.DarkroomStatus) { s.BaseDomain = "example.com" }).Obj()
	other := darkrooms.New("other", "team-a").Obj()
	got := Claimants([]*v1alpha1.Darkroom{wanting, other, serving}, host, HostsOf)
	if len(got) != 2 || got[0] != serving || got[1] != wanting {
		t.Errorf("claimants are %v", got)
	}
}
