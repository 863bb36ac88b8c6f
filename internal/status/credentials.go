package status

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// determineCredentials returns the condition CredentialsReady; nil if no Secret is
// referenced. The controller does not read Secrets: it learns of a missing key from a pod
// that cannot start.
func determineCredentials(o Observation) *v1alpha1.Condition {
	if o.Secret.Name == "" {
		return nil
	}
	keys := values.CredentialsKeys(&o.Darkroom.Spec.Source)
	condition := &v1alpha1.Condition{Type: v1alpha1.ConditionCredentialsReady, Status: metav1.ConditionFalse}
	switch key := missingKey(o, keys); {
	case !o.Secret.Found:
		condition.Reason = v1alpha1.ReasonSecretMissing
		condition.Message = fmt.Sprintf("Secret %s does not exist in namespace %s: create it with %s.",
			o.Secret.Name, o.Darkroom.Namespace, quoted(keys))
	case key != "":
		condition.Reason = v1alpha1.ReasonSecretKeyMissing
		condition.Message = fmt.Sprintf("Secret %s has no key %q: add it, or name another in credentialsSecretRef.", o.Secret.Name, key)
	default:
		condition.Status = metav1.ConditionTrue
		condition.Reason = v1alpha1.ReasonSecretFound
		condition.Message = fmt.Sprintf("Secret %s exists; the pods read it by reference.", o.Secret.Name)
	}
	return condition
}

// missingKey returns the key that the kubelet reports as missing in the Secret.
func missingKey(o Observation, keys []string) string {
	if o.Problem == nil {
		return ""
	}
	for _, key := range keys {
		if strings.Contains(o.Problem.Message, fmt.Sprintf("couldn't find key %s in Secret %s/%s", key, o.Darkroom.Namespace, o.Secret.Name)) {
			return key
		}
	}
	return ""
}

// quoted returns "the key "a"", or "the keys "a" and "b"".
func quoted(keys []string) string {
	if len(keys) == 1 {
		return fmt.Sprintf("the key %q", keys[0])
	}
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = fmt.Sprintf("%q", key)
	}
	return "the keys " + strings.Join(out, " and ")
}
