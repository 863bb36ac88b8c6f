package values

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

func TestImage(t *testing.T) {
	type table = map[string]any
	const (
		digest  = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
		related = "mirror.example.com:5000/gojektech/darkroom"
	)
	for name, test := range map[string]struct {
		operator string
		darkroom *darkrooms.Builder
		want     any
		why      string
	}{
		"no image is set": {
			"", photos(), nil,
			"the chart knows its own default",
		},
		"the Darkroom's version": {
			"", photos().Version("0.4.2"),
			table{"tag": "0.4.2"},
			"the chart adds the v",
		},
		"the Darkroom's repository": {
			"", photos().Repository("registry.example.com:5000/team/darkroom"),
			table{"repository": "registry.example.com:5000/team/darkroom"},
			"",
		},
		"the Darkroom's pull policy and secrets": {
			"", photos().PullPolicy(corev1.PullAlways).PullSecrets("regcred", "other"),
			table{"pullPolicy": "Always", "pullSecrets": []any{table{"name": "regcred"}, table{"name": "other"}}},
			"",
		},
		"the operator's, with a tag": {
			related + ":v0.4.1", photos(), table{"repository": related, "tag": "v0.4.1"}, "",
		},
		"the operator's, with a digest": {
			related + "@" + digest, photos(), table{"repository": related, "digest": digest}, "",
		},
		"the operator's, with both": {
			related + ":v0.4.1@" + digest, photos(),
			table{"repository": related, "tag": "v0.4.1", "digest": digest},
			"the digest decides, the tag is shown",
		},
		"the operator's, without either": {
			related, photos(),
			table{"repository": related},
			"the colon is that of a port",
		},
		"the operator's, without a registry": {
			"darkroom:v1", photos(), table{"repository": "darkroom", "tag": "v1"}, "",
		},
		"the Darkroom's version of the operator's repository": {
			related + ":v0.4.1@" + digest, photos().Version("0.4.0"),
			table{"repository": related, "tag": "0.4.0"},
			"the digest would win over the tag, and is that of another version",
		},
		"the Darkroom's repository beside the operator's image": {
			related + ":v0.4.1@" + digest, photos().Repository("team/darkroom"),
			table{"repository": "team/darkroom"},
			"tag and digest belong to the operator's repository",
		},
		"the Darkroom's repository and version beside the operator's image": {
			related + "@" + digest, photos().Repository("team/darkroom").Version("latest"),
			table{"repository": "team/darkroom", "tag": "latest"},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := at(valuesOf(t, test.darkroom.Obj(), Options{Image: test.operator}), "image")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.why, diff)
			}
		})
	}
}

func TestPullSecretsOfTheOperatorAreForDarkroomsWithoutTheirOwn(t *testing.T) {
	options := Options{ImagePullSecrets: []string{"mirror", "other"}}
	for name, test := range map[string]struct {
		darkroom *darkrooms.Builder
		want     []any
	}{
		"none of its own": {photos(), []any{map[string]any{"name": "mirror"}, map[string]any{"name": "other"}}},
		"its own":         {photos().PullSecrets("mine"), []any{map[string]any{"name": "mine"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := at(valuesOf(t, test.darkroom.Obj(), options), "image", "pullSecrets")
			if diff := cmp.Diff(any(test.want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
