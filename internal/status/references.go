package status

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// determineCredentials returns the condition CredentialsReady; nil if no Secret is referenced. The status controller
// does not read these Secrets. A missing key is known only from a pod that cannot start.
func determineCredentials(o Observation) *v1alpha1.Condition {
	var names []string
	condition := &v1alpha1.Condition{Type: v1alpha1.ConditionCredentialsReady, Status: metav1.ConditionFalse}
	for _, credentials := range values.CredentialsOf(&o.Darkroom.Spec) {
		name := credentials.Name
		if slices.Contains(o.MissingSecrets, name) {
			condition.Reason = v1alpha1.ReasonSecretMissing
			condition.Message = fmt.Sprintf("Secret %s does not exist in namespace %s. Create it with %s.",
				name, o.Darkroom.Namespace, keyNames(credentials.Keys))
			return condition
		}
		if key := missingKey(o, credentials); key != "" {
			condition.Reason = v1alpha1.ReasonSecretKeyMissing
			condition.Message = fmt.Sprintf("Secret %s has no key %q. Add the key, or name another key in credentialsSecretRef.",
				name, key)
			return condition
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha1.ReasonSecretFound
	switch len(names) {
	case 0:
		return nil
	case 1:
		condition.Message = fmt.Sprintf("Secret %s exists; the pods read it by reference.", names[0])
	default:
		condition.Message = fmt.Sprintf("Secrets %s exist; the pods read them by reference.", strings.Join(names, ", "))
	}
	return condition
}

// keyNames returns the names of one or two keys for a message.
func keyNames(keys []string) string {
	if len(keys) == 1 {
		return fmt.Sprintf("the key %q", keys[0])
	}
	return `the keys "` + strings.Join(keys, `" and "`) + `"`
}

// missingKey returns the key that the kubelet reports as missing in a Secret.
func missingKey(o Observation, of values.Credentials) string {
	for _, key := range of.Keys {
		if o.Problem != nil && strings.Contains(o.Problem.Message,
			fmt.Sprintf("couldn't find key %s in Secret %s/%s", key, o.Darkroom.Namespace, of.Name)) {
			return key
		}
	}
	return ""
}

// missingFile returns a problem if a file that the pods mount does not exist; nil if all exist. Pods do not report such
// a missing file. The objects are read from the API server, but only while pods do not start.
func (r *Reconciler) missingFile(ctx context.Context, darkroom *v1alpha1.Darkroom) (*Problem, error) {
	for _, file := range values.Files(&darkroom.Spec) {
		at := types.NamespacedName{Namespace: darkroom.Namespace, Name: file.Name}
		secret, configMap := &corev1.Secret{}, &corev1.ConfigMap{}
		read := client.Object(configMap)
		if file.Kind == "Secret" {
			read = secret
		}
		err := r.Uncached.Get(ctx, at, read)
		_, isData := secret.Data[file.Key]
		_, isText := configMap.Data[file.Key]
		_, isBinary := configMap.BinaryData[file.Key]
		switch {
		case apierrors.IsNotFound(err):
			return &Problem{
				v1alpha1.ReasonPodsFailing,
				fmt.Sprintf("%s %s does not exist in namespace %s. Create it with the key %q, or change %s.",
					file.Kind, file.Name, darkroom.Namespace, file.Key, file.Field),
			}, nil
		case err != nil:
			return nil, fmt.Errorf("read %s %s: %w", file.Kind, at, err)
		case !isData && !isText && !isBinary:
			return &Problem{v1alpha1.ReasonPodsFailing, fmt.Sprintf("%s %s has no key %q. Add the key, or name another key in %s.",
				file.Kind, file.Name, file.Key, file.Field)}, nil
		}
	}
	return nil, nil //nolint:nilnil // no problem
}
