package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// Bounds of a list of Secrets. The rest of the namespace is left out, and the list says so.
const (
	// secretPage is how many Secrets are requested at a time. Each has up to 1 MiB.
	secretPage = 50
	// maxSecretItems bounds the Secrets of a list.
	maxSecretItems = 500
	// maxSecretBytes bounds how much is read of the Kubernetes API, values included.
	maxSecretBytes = 16 << 20
	// maxSecretNames bounds the names and keys of a list, in bytes; one Secret always fits.
	maxSecretNames = 1 << 20
	// secretListTimeout bounds the time for all pages.
	secretListTimeout = 10 * time.Second
)

// Selectors of Secrets that can have credentials. Those of Helm's releases are large, and
// those of Darkrooms belong to the operator.
const (
	//nolint:gosec // G101: types of Secrets
	secretFields = "type!=helm.sh/release.v1,type!=kubernetes.io/service-account-token"
	secretLabels = "!" + v1alpha1.LabelDarkroom
)

// Secret is a Secret without its values.
type Secret struct {
	Name string   `json:"name"`
	Type string   `json:"type" doc:"For example Opaque or kubernetes.io/tls"`
	Keys []string `json:"keys" doc:"Names of the entries, sorted"`
}

// SecretList is the Secrets of a namespace, sorted by name.
type SecretList struct {
	Items     []Secret `json:"items"`
	Truncated bool     `json:"truncated" doc:"Whether the namespace has more Secrets than are listed"`
}

type secretsInput struct {
	Namespace string `query:"namespace" required:"true" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
}

type secretsOutput struct {
	Body SecretList
}

// secrets lists the Secrets of a namespace with the caller's own token: the server itself
// can read none. Of the values nothing is kept.
func (s *Server) secrets(ctx context.Context, in *secretsInput) (*secretsOutput, error) {
	if err := s.requireServed(in.Namespace); err != nil {
		return nil, err
	}
	who := callerOf(ctx).user.GetName()
	// Lists of Secrets are large, so they share the rate and the places of renderings.
	if err := s.renderRates.Wait(ctx, who, budgetTimeout); err != nil {
		return nil, limited(err)
	}
	leave, err := s.renderings.Enter(ctx, who)
	if err != nil {
		return nil, limited(err)
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, secretListTimeout)
	defer cancel()
	list := newSecretLister(maxSecretBytes)
	for next := ""; ; {
		next, err = list.page(func() (io.ReadCloser, error) { return s.streamSecrets(ctx, in.Namespace, next) })
		switch {
		case err != nil && len(list.items) > 0 && isCutShort(err):
			list.full = true
		case err != nil:
			return nil, fromKubernetes(err, asIs)
		}
		if list.full || next == "" {
			return &secretsOutput{Body: SecretList{Items: list.items, Truncated: list.full}}, nil
		}
	}
}

// isCutShort reports whether a list has to end early: it took too long.
func isCutShort(err error) bool {
	return apierrors.IsResourceExpired(err) || isUnreachable(err)
}

// streamSecrets requests a page of Secrets.
func (s *Server) streamSecrets(ctx context.Context, namespace, after string) (io.ReadCloser, error) {
	return s.callers.core.Get().Namespace(namespace).Resource("secrets").
		VersionedParams(&metav1.ListOptions{
			FieldSelector: secretFields, LabelSelector: secretLabels, Limit: secretPage, Continue: after,
		}, s.callers.parameters).MaxRetries(0).Stream(ctx)
}

// secretLister collects Secrets until a bound is reached.
type secretLister struct {
	items []Secret
	// names is the size of the items in bytes.
	names int
	// budget is how many bytes may still be read.
	budget int64
	// full is set once something was left out.
	full bool
}

func newSecretLister(budget int64) *secretLister {
	return &secretLister{items: []Secret{}, budget: budget}
}

// page reads one page, and returns where the next one begins.
func (l *secretLister) page(open func() (io.ReadCloser, error)) (next string, err error) {
	body, err := open()
	if err != nil {
		return "", err
	}
	defer body.Close()
	bounded := &io.LimitedReader{R: body, N: l.budget}
	next, err = readSecretList(bounded, l.add)
	l.budget = bounded.N
	if bounded.N <= 0 {
		l.full = true
		return "", nil
	}
	return next, err
}

// add returns errFull for a Secret that does not fit.
func (l *secretLister) add(secret Secret) error {
	size := len(secret.Name) + len(secret.Type)
	for _, key := range secret.Keys {
		size += len(key)
	}
	if len(l.items) == maxSecretItems || l.names > 0 && l.names+size > maxSecretNames {
		l.full = true
		return errFull
	}
	l.items, l.names = append(l.items, secret), l.names+size
	return nil
}

// errFull ends the reading of a list.
var errFull = errors.New("the list of Secrets is full")

// listedSecret has the fields of a Secret that are read.
type listedSecret struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Type string             `json:"type"`
	Data map[string]skipped `json:"data"`
}

// skipped is a JSON value that is not decoded.
type skipped struct{}

// UnmarshalJSON implements json.Unmarshaler. It keeps nothing.
func (*skipped) UnmarshalJSON([]byte) error { return nil }

// readSecretList decodes a SecretList one Secret at a time, so that no more than one is in
// memory, and returns the token of the next page. It stops at the first error of add.
func readSecretList(in io.Reader, add func(Secret) error) (next string, err error) {
	decoder := json.NewDecoder(in)
	if err := open(decoder, '{'); err != nil {
		return "", err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return "", fmt.Errorf("decode list of Secrets: %w", err)
		}
		switch name {
		case "metadata":
			meta := metav1.ListMeta{}
			if err := decoder.Decode(&meta); err != nil {
				return "", fmt.Errorf("decode list of Secrets: %w", err)
			}
			next = meta.Continue
		case "items":
			if err := readSecrets(decoder, add); err != nil {
				if errors.Is(err, errFull) {
					return "", nil
				}
				return "", err
			}
		default:
			if err := decoder.Decode(&skipped{}); err != nil {
				return "", fmt.Errorf("decode list of Secrets: %w", err)
			}
		}
	}
	if _, err := decoder.Token(); err != nil {
		return "", fmt.Errorf("decode list of Secrets: %w", err)
	}
	return next, nil
}

// readSecrets decodes the items of a list.
func readSecrets(decoder *json.Decoder, add func(Secret) error) error {
	if err := open(decoder, '['); err != nil {
		return err
	}
	for decoder.More() {
		item := listedSecret{}
		if err := decoder.Decode(&item); err != nil {
			return fmt.Errorf("decode Secret: %w", err)
		}
		keys := slices.AppendSeq([]string{}, maps.Keys(item.Data))
		slices.Sort(keys)
		if err := add(Secret{Name: item.Metadata.Name, Type: item.Type, Keys: keys}); err != nil {
			return err
		}
	}
	_, err := decoder.Token()
	return err
}

// open reads the bracket that a value begins with.
func open(decoder *json.Decoder, bracket json.Delim) error {
	token, err := decoder.Token()
	if err != nil {
		return fmt.Errorf("decode list of Secrets: %w", err)
	}
	if token != bracket {
		return problem.New(http.StatusServiceUnavailable, "the Kubernetes API returned something other than a list of Secrets")
	}
	return nil
}
