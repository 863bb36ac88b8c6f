package oidc

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	expect.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func key(b byte) []byte { return []byte(strings.Repeat(string(b), keySize)) }

func TestConfigurationsThatAreWrongNameTheFieldAndTheRemedy(t *testing.T) {
	keys := write(t, "keys", base64.StdEncoding.EncodeToString(key('a'))+"\n")
	good := "issuer: https://dex.example.com\nclientID: darkroom\nredirectURL: " +
		"https://darkrooms.example.com/auth/callback\ncookieKeysFile: " + keys + "\n"
	replaced := func(old, by string) string { return strings.Replace(good, old, by, 1) }
	for name, c := range map[string]struct{ file, want string }{
		"good":                    {good, ""},
		"on loopback":             {replaced("https://dex.example.com", "http://127.0.0.1:5556/dex"), ""},
		"impersonation":           {good + `impersonation: {usernamePrefix: "oidc:", groups: [a]}`, ""},
		"unknown field":           {good + "client: x\n", "client"},
		"plain HTTP":              {replaced("https://dex", "http://dex"), "issuer"},
		"no issuer":               {replaced("https://dex.example.com", `""`), "issuer"},
		"issuer with a password":  {replaced("https://dex", "https://a:b@dex"), "issuer"},
		"plain redirect":          {replaced("https://darkrooms", "http://darkrooms"), "redirectURL"},
		"redirect elsewhere":      {replaced("/auth/callback", "/callback"), "/auth/callback"},
		"no client":               {replaced("darkroom\n", `""`+"\n"), "clientID"},
		"no scope openid":         {good + "scopes: [email]\n", "openid"},
		"no keys":                 {replaced(keys, `""`), "openssl rand"},
		"missing keys":            {replaced(keys, keys+"x"), "cookieKeysFile"},
		"short key":               {replaced(keys, write(t, "short", "c2hvcnQ=")), "32 bytes"},
		"empty keys":              {replaced(keys, write(t, "empty", "\n")), "cookieKeysFile"},
		"missing secret":          {good + "clientSecretFile: /does/not/exist\n", "clientSecretFile"},
		"empty secret":            {good + "clientSecretFile: " + write(t, "none", "\n"), "clientSecretFile"},
		"missing CA":              {good + "caFile: /does/not/exist\n", "caFile"},
		"CA without certificates": {good + "caFile: " + keys, "caFile"},
		"session without an end":  {good + "sessionLifetime: 240h\n", "sessionLifetime"},
		"session that is over":    {good + "sessionLifetime: 1s\n", "sessionLifetime"},
		"no prefix":               {good + "impersonation: {groups: [a]}\n", "usernamePrefix"},
		"reserved prefix":         {good + `impersonation: {usernamePrefix: "system:"}`, "usernamePrefix"},
		"reserved group":          {good + `impersonation: {usernamePrefix: "oidc:", groups: ["system:masters"]}`, "system:"},
		"group made reserved": {good +
			`impersonation: {usernamePrefix: "oidc:", groupsPrefix: "system:", groups: [masters]}`, "system:"},
	} {
		config, err := Load(write(t, "oidc.yaml", c.file))
		if err == nil {
			_, err = New(*config)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: the error is %v, want %q", name, err, c.want)
		}
	}
	if _, err := Load("/does/not/exist"); err == nil {
		t.Error("a missing file is accepted")
	}
}

func TestConfigurationsOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "sign-in.md"))
	expect.NoError(t, err)
	found, first := 0, ""
	for _, block := range strings.Split(string(page), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		switch {
		case strings.HasPrefix(block, "impersonation:"):
			block = first + block // as the document says
		case !strings.Contains(block, "clientID:"):
			continue
		}
		if first == "" {
			first = strings.ReplaceAll("\n"+block, "\n   ", "\n")
		}
		found++
		config, err := Load(write(t, "oidc.yaml", block))
		if err != nil {
			t.Error(err)
			continue
		}
		if err := config.withDefaults().validate(); err != nil {
			t.Error(err)
		}
	}
	if found != 2 {
		t.Errorf("%d configurations, want 2", found)
	}
}
