package apiserver

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// listOf is a page of Secrets as the Kubernetes API returns it, made while it is read.
func listOf(next string, items, valueBytes int) io.Reader {
	parts := []io.Reader{strings.NewReader(`{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":"` + next + `"},"items":[`)}
	for i := range items {
		comma := ","
		if i == 0 {
			comma = ""
		}
		parts = append(parts,
			strings.NewReader(fmt.Sprintf(`%s{"metadata":{"name":"s%d","managedFields":[{"a":{}}]},"data":{"k2":null,"k1":"`, comma, i)),
			io.LimitReader(letters{}, int64(valueBytes)),
			strings.NewReader(`"},"type":"Opaque"}`))
	}
	return io.MultiReader(append(parts, strings.NewReader(`]}`))...)
}

// letters is an endless text.
type letters struct{}

func (letters) Read(out []byte) (int, error) {
	for i := range out {
		out[i] = 'A'
	}
	return len(out), nil
}

// counted counts the bytes that are read.
type counted struct {
	io.Reader

	read int
}

func (c *counted) Read(out []byte) (int, error) {
	n, err := c.Reader.Read(out)
	c.read += n
	return n, err
}

func (c *counted) Close() error { return nil }

func TestPageOfSecretsIsReadOneByOne(t *testing.T) {
	t.Parallel()
	var got []string
	next, err := readSecretList(listOf("more", 3, 10), func(secret Secret) error {
		got = append(got, fmt.Sprint(secret))
		return nil
	})
	if want := []string{"{s0 Opaque [k1 k2]}", "{s1 Opaque [k1 k2]}", "{s2 Opaque [k1 k2]}"}; err != nil || next != "more" || !slices.Equal(got, want) {
		t.Errorf("read is %q, %q, %v", got, next, err)
	}
	for _, text := range []string{"", "[]", "{", `{"items":{}}`, `{"items":[1]}`, `{"items":[{}`, `{"metadata":[]}`} {
		if _, err := readSecretList(strings.NewReader(text), func(Secret) error { return nil }); err == nil {
			t.Errorf("%s is a list", text)
		}
	}
	if next, err := readSecretList(strings.NewReader(`{"items":[],"metadata":{"continue":"x"},"more":[{}]}`), nil); err != nil || next != "x" {
		t.Errorf("an empty page is %q, %v", next, err)
	}
}

func TestListOfLargeSecretsStopsAtItsBound(t *testing.T) {
	t.Parallel()
	const budget = 1 << 20
	list := newSecretLister(budget)
	body := &counted{Reader: listOf("more", 1000, 200<<10)}
	next, err := list.page(func() (io.ReadCloser, error) { return body, nil })
	if err != nil || next != "" || !list.full || len(list.items) != 5 {
		t.Errorf("%d items, full: %t, next %q, %v", len(list.items), list.full, next, err)
	}
	if body.read > budget {
		t.Errorf("%d bytes were read, of at most %d", body.read, budget)
	}
}

func TestListOfSecretsBoundsItsNames(t *testing.T) {
	t.Parallel()
	list := newSecretLister(1)
	large := Secret{Name: "a", Keys: []string{strings.Repeat("k", maxSecretNames)}}
	if err := list.add(large); err != nil || list.full {
		t.Errorf("the first does not fit: %v", err)
	}
	if err := list.add(Secret{Name: "b"}); !errors.Is(err, errFull) || !list.full {
		t.Errorf("another one fits: %v", err)
	}
}

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
