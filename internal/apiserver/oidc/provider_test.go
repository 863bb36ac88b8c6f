package oidc

import "testing"

func TestReturnPathsAreLocal(t *testing.T) {
	for given, want := range map[string]string{
		"/ui/darkrooms/a/b?x=1": "/ui/darkrooms/a/b?x=1", "/?phase=Ready&q=a": "/?phase=Ready&q=a",
		"": "/", "/": "/", "///evil.example.com": "/", "/%2fevil.example.com": "/", "https://evil.example.com/ui/": "/",
		"//evil.example.com/ui/": "/", `/\evil.example.com`: "/", `/ui/\evil`: "/", "ui/x": "/", "javascript:alert(1)": "/",
		"/auth/login": "/", "/ui/\r\nSet-Cookie: a=b": "/",
	} {
		if got := localPath(given); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
}
