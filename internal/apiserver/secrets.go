package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

const (
	// maxNewSecret limits the size of the body of a new Secret, in bytes.
	maxNewSecret = 128 << 10
	// labelManagedBy marks Secrets that this server created. The operator and Helm do not touch them.
	labelManagedBy = "app.kubernetes.io/managed-by"
)

// NewSecret contains the credentials of a source: S3 keys, or a service account key.
type NewSecret struct {
	Namespace       string `json:"namespace"`
	Name            string `json:"name"`
	AccessKey       string `json:"accessKey,omitempty" writeOnly:"true" maxLength:"1024" doc:"S3: stored as the entry accessKey; requires secretKey"`
	SecretKey       string `json:"secretKey,omitempty" writeOnly:"true" maxLength:"1024" doc:"S3: stored as the entry secretKey"`
	CredentialsJSON string `json:"credentialsJson,omitempty" writeOnly:"true" maxLength:"65536" doc:"Google Cloud Storage: service account key (JSON), stored as the entry credentials.json"`
}

// Secret is a Secret without its values.
type Secret struct {
	Name string   `json:"name"`
	Type string   `json:"type" doc:"Opaque"`
	Keys []string `json:"keys" doc:"Names of the entries, sorted"`
}

type createSecretInput struct {
	DryRunInput

	Body NewSecret
}

// createSecret stores credentials in a new Secret, with the caller's own token. The Secret has no owner, so it remains
// when the Darkroom is deleted.
func (s *Server) createSecret(ctx context.Context, in *createSecretInput) (*reply.JSON[Secret], error) {
	if err := in.Body.check(); err != nil {
		return nil, err
	}
	if err := s.requireServed(in.Body.Namespace); err != nil {
		return nil, err
	}
	secret := in.Body.secret()
	err := s.auth.Clients.Core.Post().Namespace(secret.Namespace).Resource("secrets").
		VersionedParams(&metav1.CreateOptions{DryRun: in.list(), FieldManager: fieldManager}, s.auth.Clients.Parameters).
		Body(secret).MaxRetries(0).Do(ctx).Error()
	if err != nil {
		return nil, in.Body.refusal(err)
	}
	return reply.With(Secret{
		Name: secret.Name, Type: string(secret.Type), Keys: slices.Sorted(maps.Keys(secret.Data)),
	}), nil
}

func (n *NewSecret) secret() *corev1.Secret {
	out := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: n.Namespace, Name: n.Name, Labels: map[string]string{labelManagedBy: fieldManager},
		},
		Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{},
	}
	for key, value := range map[string]string{
		values.DefaultAccessKeyKey: n.AccessKey, values.DefaultSecretKeyKey: n.SecretKey,
		values.DefaultCredentialsJSONKey: n.CredentialsJSON,
	} {
		if value != "" {
			out.Data[key] = []byte(value)
		}
	}
	return out
}

// check returns a problem with every invalid field, without the values.
func (n *NewSecret) check() error {
	var bad []problem.Field
	refuse := func(field, message string) {
		bad = append(bad, problem.Field{Location: "body." + field, Message: message})
	}
	if problems := validation.IsDNS1123Label(n.Namespace); len(problems) > 0 {
		refuse("namespace", "must be the name of a namespace: lower-case letters, digits and '-'")
	}
	if problems := validation.IsDNS1123Subdomain(n.Name); len(problems) > 0 {
		refuse("name", "must be the name of a Secret: lower-case letters, digits, '-' and '.', for example s3-keys")
	}
	if keys := n.AccessKey + n.SecretKey; keys == "" {
		n.checkJSON(refuse)
	} else {
		n.checkKeys(refuse)
	}
	if len(bad) > 0 {
		return problem.New(http.StatusUnprocessableEntity, "the Secret is invalid; see errors", bad...)
	}
	return nil
}

func (n *NewSecret) checkKeys(refuse func(field, message string)) {
	for _, key := range []struct{ field, value string }{{"accessKey", n.AccessKey}, {"secretKey", n.SecretKey}} {
		switch {
		case key.value == "":
			refuse(key.field, "required: accessKey and secretKey must be set together")
		case strings.ContainsFunc(key.value, isNotInKey):
			refuse(key.field, "must not contain white space or control characters")
		}
	}
	if n.CredentialsJSON != "" {
		refuse("credentialsJson", "must be omitted with accessKey and secretKey")
	}
}

// isNotInKey reports whether a character is invalid in an S3 key. S3 clients send the access key in an HTTP header.
func isNotInKey(r rune) bool { return r <= ' ' || r == 0x7f }

func (n *NewSecret) checkJSON(refuse func(field, message string)) {
	if n.CredentialsJSON == "" {
		refuse("accessKey", "required with secretKey, or credentialsJson instead of both")
		return
	}
	key := serviceAccountKey{}
	if err := json.Unmarshal([]byte(n.CredentialsJSON), &key); err != nil {
		// The error of the decoder may contain a value.
		refuse("credentialsJson", "must be a service account key in JSON, as it was downloaded from Google Cloud")
		return
	}
	if key.Type != "service_account" || key.ClientEmail == "" || key.PrivateKey == "" {
		refuse("credentialsJson",
			"must be a service account key, with the type service_account, client_email and private_key")
	}
}

// serviceAccountKey contains the required fields of a service account key.
type serviceAccountKey struct {
	Type        string `json:"type"`
	ClientEmail string `json:"client_email"`
	PrivateKey  string `json:"private_key"`
}

// refusal returns the problem for a Secret that the cluster rejected. It redacts the values, which an admission webhook
// may repeat in its message.
func (n *NewSecret) refusal(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return problem.New(http.StatusConflict, fmt.Sprintf(
			"the Secret %q already exists in the namespace %q and is not overwritten: choose another name, or reference it "+
				"in credentialsSecretRef", n.Name, n.Namespace))
	}
	// Quotas, policies and terminating namespaces also cause Forbidden.
	if apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot create resource") {
		return mayNotCreateSecrets(n.Namespace)
	}
	redact := n.redactor()
	if apierrors.IsInvalid(err) {
		return problem.New(http.StatusUnprocessableEntity, redact(err.Error()))
	}
	return wire.FromKubernetes(err, redact)
}

func mayNotCreateSecrets(namespace string) *problem.Details {
	return problem.New(http.StatusForbidden, fmt.Sprintf(
		"you may not create secrets in the namespace %q; the cluster role darkroom-secret-creator grants it", namespace))
}

// redactor returns a function that removes the credentials from messages.
func (n *NewSecret) redactor() func(string) string {
	key := serviceAccountKey{}
	// check has rejected invalid JSON.
	_ = json.Unmarshal([]byte(n.CredentialsJSON), &key)
	of := func(access, secret string) *v1alpha1.Darkroom {
		return &v1alpha1.Darkroom{Spec: v1alpha1.DarkroomSpec{Source: v1alpha1.Source{AccessKey: access, SecretKey: secret}}}
	}
	return wire.Redactor(of(n.AccessKey, n.SecretKey), of(n.CredentialsJSON, key.PrivateKey))
}
