package status

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

func TestCredentialsOfAReferencedSecret(t *testing.T) {
	reference := darkrooms.New("photos", "team-a").S3("pictures", "eu-west-2").CredentialsSecret("keys").Obj()
	google := darkrooms.New("photos", "team-a").GoogleCloudStorage("pictures").CredentialsSecret("keys").Obj()
	kubelet := func(message string) *Problem { return &Problem{v1alpha1.ReasonPodsFailing, "Pod photos-1: " + message} }
	for name, test := range map[string]struct {
		darkroom         *v1alpha1.Darkroom
		found            bool
		problem          *Problem
		reason, mentions string
	}{
		"there":            {reference, true, nil, v1alpha1.ReasonSecretFound, "keys"},
		"missing":          {reference, false, nil, v1alpha1.ReasonSecretMissing, `the keys "accessKey" and "secretKey"`},
		"missing, one key": {google, false, nil, v1alpha1.ReasonSecretMissing, `the key "credentials.json"`},
		"without a key": {
			reference, true, kubelet("couldn't find key secretKey in Secret team-a/keys"), v1alpha1.ReasonSecretKeyMissing, `"secretKey"`,
		},
		"another Secret without a key": {
			reference, true, kubelet("couldn't find key secretKey in Secret team-a/others"), v1alpha1.ReasonSecretFound, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := determineCredentials(Observation{Darkroom: test.darkroom, Secret: Secret{"keys", test.found}, Problem: test.problem})
			if got == nil || got.Reason != test.reason || !strings.Contains(got.Message, test.mentions) {
				t.Fatalf("got %+v", got)
			}
			if (got.Status == metav1.ConditionTrue) != (test.reason == v1alpha1.ReasonSecretFound) {
				t.Errorf("status is %s", got.Status)
			}
		})
	}
	if got := determineCredentials(Observation{Darkroom: darkrooms.New("photos", "team-a").Obj()}); got != nil {
		t.Errorf("without a reference: %+v", got)
	}
}
