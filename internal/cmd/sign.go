package cmd

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/darkroom-operator/darkroom-operator/internal/signing"
)

func newSign() *cobra.Command {
	var file string
	var expires time.Duration
	command := &cobra.Command{
		Use:   "sign --keys FILE URL…",
		Short: "Signs URLs of images for a Darkroom with gate.signing",
		Long: `Signs URLs of images with the first key of a file, which has one key in each line,
as the Secret that gate.signing.secretRef names. It does not need a cluster.`,
		Example: `  kubectl get secret photos-signing -o jsonpath='{.data.keys}' | base64 -d |
    darkroom-operator sign --keys - 'https://photos.example.com/cat.jpg?w=300'
  darkroom-operator sign --keys keys.txt --expires 24h 'https://photos.example.com/cat.jpg'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if command.Flags().Changed("expires") && expires <= 0 {
				return fmt.Errorf("--expires=%s: must be more than 0; without the flag, URLs do not expire", expires)
			}
			key, err := readKey(file, command.InOrStdin())
			if err != nil {
				return err
			}
			var until time.Time
			if expires > 0 {
				until = time.Now().Add(expires)
			}
			for _, arg := range args {
				u, err := url.Parse(arg)
				if err != nil || !strings.HasPrefix(u.Path, "/") {
					return fmt.Errorf("%q is not the URL of an image, for example https://photos.example.com/cat.jpg?w=300", arg)
				}
				// What cannot be read would be missing in the URL that is signed.
				if _, err := url.ParseQuery(u.RawQuery); err != nil {
					return fmt.Errorf("the parameters of %q cannot be read: %w", arg, err)
				}
				fmt.Fprintln(command.OutOrStdout(), signing.Sign(key, *u, until))
			}
			return nil
		},
	}
	command.Flags().StringVar(&file, "keys", "", "file with the keys, one in each line; - is the standard input")
	command.Flags().DurationVar(&expires, "expires", 0,
		"time for which the URLs are valid, for example 24h (default: forever)")
	return command
}

// readKey returns the key that signs.
func readKey(file string, stdin io.Reader) (string, error) {
	var keys []byte
	var err error
	switch file {
	case "":
		return "", errors.New("--keys is required: a file with one key in each line, or - for the standard input")
	case "-":
		keys, err = io.ReadAll(io.LimitReader(stdin, 1<<20))
	default:
		keys, err = os.ReadFile(file) //nolint:gosec // a flag
	}
	if err != nil {
		return "", fmt.Errorf("read keys: %w", err)
	}
	key, err := signing.FirstKey(string(keys))
	if err != nil {
		return "", fmt.Errorf("read keys from %s: %w", file, err)
	}
	return key, nil
}
