package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/signing"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

func newSign() *cobra.Command {
	s := &subject{}
	var file string
	var expires time.Duration
	command := &cobra.Command{
		Use:   "sign {NAME | --keys FILE} URL…",
		Short: "Signs URLs of images for a Darkroom with gate.signing",
		Long: `Signs URLs of images with the first key in the Secret that gate.signing.secretRef of a Darkroom references. You need
permission to read the Secret. With --keys, the keys are read from a file instead, one per line, and no cluster is needed.`,
		Example: `  kubectl darkroom sign photos -n team-a 'https://photos.example.com/cat.jpg?w=300'
  kubectl darkroom sign --keys keys.txt --expires 24h 'https://photos.example.com/cat.jpg'`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: s.complete,
		RunE: func(command *cobra.Command, args []string) error {
			if command.Flags().Changed("expires") && expires <= 0 {
				return fmt.Errorf("--expires=%s: must be more than 0; without the flag, URLs do not expire", expires)
			}
			read := func() (string, error) { return readKeys(file, command.InOrStdin()) }
			if file == "" {
				if len(args) < 2 {
					return errors.New("specify a Darkroom and URLs, or --keys and URLs")
				}
				name := args[0]
				args, read = args[1:], func() (string, error) { return s.keysOf(command.Context(), name) }
			}
			keys, err := read()
			if err != nil {
				return err
			}
			key, err := signing.FirstKey(keys)
			if err != nil {
				return fmt.Errorf("read keys: %w", err)
			}
			return sign(command.OutOrStdout(), key, args, expires)
		},
	}
	s.addFlags(command.Flags())
	command.Flags().StringVar(&file, "keys", "", "file with the keys, one per line; - means standard input")
	command.Flags().DurationVar(&expires, "expires", 0,
		"time for which the URLs are valid, for example 24h (default: forever)")
	return command
}

// sign prints signed URLs that expire after some time; zero means never.
func sign(out io.Writer, key string, urls []string, expires time.Duration) error {
	var until time.Time
	if expires > 0 {
		until = time.Now().Add(expires)
	}
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil || !strings.HasPrefix(u.Path, "/") {
			return fmt.Errorf("invalid URL %q: must be the URL of an image, for example https://photos.example.com/cat.jpg?w=300", text)
		}
		// Otherwise, invalid parameters would be missing from the signed URL.
		if _, err := url.ParseQuery(u.RawQuery); err != nil {
			return fmt.Errorf("parse the parameters of %q: %w", text, err)
		}
		fmt.Fprintln(out, signing.Sign(key, *u, until))
	}
	return nil
}

// keysOf returns the signing keys of a Darkroom.
func (s *subject) keysOf(ctx context.Context, name string) (string, error) {
	cluster, _, namespace, err := s.connect()
	if err != nil {
		return "", err
	}
	darkroom := &v1alpha1.Darkroom{}
	if err := cluster.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, darkroom); err != nil {
		return "", notFound(err, name, namespace)
	}
	holder, key := values.SigningSecret(darkroom.Spec.Gate)
	if holder == "" {
		return "", fmt.Errorf("Darkroom %s does not set spec.gate.signing, so its URLs need no signature", name)
	}
	secret := &corev1.Secret{}
	if err := cluster.Get(ctx, types.NamespacedName{Namespace: namespace, Name: holder}, secret); err != nil {
		return "", fmt.Errorf("read the signing keys of Darkroom %s: %w", name, err)
	}
	keys, found := secret.Data[key]
	if !found {
		return "", fmt.Errorf("read the signing keys of Darkroom %s: Secret %s has no key %s", name, holder, key)
	}
	return string(keys), nil
}

// readKeys reads keys from a file or from standard input.
func readKeys(file string, stdin io.Reader) (string, error) {
	var keys []byte
	var err error
	if file == "-" {
		keys, err = io.ReadAll(io.LimitReader(stdin, 1<<20))
	} else {
		keys, err = os.ReadFile(file) //nolint:gosec // a flag
	}
	if err != nil {
		return "", fmt.Errorf("read keys: %w", err)
	}
	return string(keys), nil
}
