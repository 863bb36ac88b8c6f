package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func runSign(stdin string, args ...string) (string, error) {
	command := newSign()
	var out bytes.Buffer
	command.SetArgs(args)
	command.SetIn(strings.NewReader(stdin))
	command.SetOut(&out)
	command.SetErr(&out)
	err := command.Execute()
	return out.String(), err
}

func TestURLsAreSignedWithTheFirstKey(t *testing.T) {
	const keys = "\nthe first key, 0123456789\nthe second key, 0123456789\n"
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte(keys), 0o600); err != nil {
		t.Fatal(err)
	}
	// Of gate/testdata/signatures.txt.
	const want = "https://a.example.com/a.jpg?s=14289c89fd5f9cd6b753350748fd2c7f6d27bf90d6eebe7decdff2e486fc0e7a&w=300\n"
	for _, args := range [][]string{{"--keys", file}, {"--keys", "-"}} {
		got, err := runSign(keys, append(args, "https://a.example.com/a.jpg?w=300", "https://a.example.com/a.jpg?w=300")...)
		if err != nil || got != want+want {
			t.Errorf("%v: %s %v", args, got, err)
		}
	}
	got, err := runSign(keys, "--keys", "-", "--expires", "1h", "/a.jpg")
	if err != nil || !strings.HasPrefix(got, "/a.jpg?expires=") {
		t.Errorf("%s %v", got, err)
	}
}

func TestWhatCannotBeSignedIsNamed(t *testing.T) {
	for reason, args := range map[string][]string{
		"--keys is required":      {"/a.jpg"},
		"16 characters":           {"--keys", "-", "/a.jpg"},
		"read keys":               {"--keys", "missing", "/a.jpg"},
		"requires at least 1 arg": {"--keys", "-"},
		"must be more than 0":     {"--keys", "-", "--expires", "-1h", "/a.jpg"},
		"URLs do not expire":      {"--keys", "-", "--expires", "0", "/a.jpg"},
	} {
		got, err := runSign("short-key", args...)
		if err == nil || !strings.Contains(err.Error(), reason) || strings.Contains(got, "short-key") {
			t.Errorf("%v: %v, want %s", args, err, reason)
		}
	}
	for arg, reason := range map[string]string{
		"https://a.example.com":                 "not the URL of an image",
		"a.example.com/a.jpg?w=300":             "not the URL of an image",
		"a.jpg":                                 "not the URL of an image",
		"":                                      "not the URL of an image",
		"https:a.jpg":                           "not the URL of an image",
		"https://a.example.com/a.jpg?w=1;h=1":   "cannot be read",
		"https://a.example.com/a.jpg?preset=%":  "cannot be read",
		"https://a.example.com/a.jpg?a=1&w=%zz": "cannot be read",
	} {
		got, err := runSign("the first key, 0123456789", "--keys", "-", arg)
		if err == nil || !strings.Contains(err.Error(), reason) || strings.Contains(got, "s=") {
			t.Errorf("%s: %s, %v; want %s", arg, got, err, reason)
		}
	}
}
