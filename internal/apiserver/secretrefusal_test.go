package apiserver

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

func TestMessagesOfTheClusterDoNotRepeatCredentials(t *testing.T) {
	t.Parallel()
	const key = `{"type":"service_account","client_email":"a@b","private_key":"line-one-of-it\nline-two-of-it\n"}`
	for name, c := range map[string]struct {
		secret  NewSecret
		message string
		canary  string
	}{
		"access key":  {NewSecret{AccessKey: "canary-access", SecretKey: "canary-secret"}, "denied: canary-access", "canary-access"},
		"secret key":  {NewSecret{AccessKey: "canary-access", SecretKey: "canary-secret"}, "denied: Y2FuYXJ5LXNlY3JldA==", "Y2FuYXJ5"},
		"JSON":        {NewSecret{CredentialsJSON: key}, "denied: " + key, "line-two-of-it"},
		"private key": {NewSecret{CredentialsJSON: key}, "denied: line-two-of-it", "line-two-of-it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.secret.refusal(apierrors.NewBadRequest(c.message))
			var refusal *problem.Details
			if !errors.As(err, &refusal) || strings.Contains(refusal.Detail, c.canary) || !strings.HasPrefix(refusal.Detail, "denied") {
				t.Errorf("the problem is %v", err)
			}
		})
	}
}
