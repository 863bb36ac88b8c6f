package oidc

import (
	"errors"
	"strings"
	"testing"
)

func TestSealedValuesOpenWithKnownKeysOnly(t *testing.T) {
	sealerOf := func(keys ...byte) *sealer {
		var raw [][]byte
		for _, b := range keys {
			raw = append(raw, key(b))
		}
		out, err := newSealer(raw)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	sealed, err := sealerOf('a').seal("session", "secret")
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := sealerOf('a').seal("session", "secret"); again == sealed || strings.Contains(sealed, "secret") {
		t.Errorf("sealed is %q", sealed)
	}
	flipped := []byte(sealed)
	flipped[len(flipped)/2] ^= 1
	for name, c := range map[string]struct {
		with          *sealer
		purpose, text string
		want          error
	}{
		"same key":      {sealerOf('a'), "session", sealed, nil},
		"newer key too": {sealerOf('b', 'a'), "session", sealed, nil},
		"another key":   {sealerOf('b'), "session", sealed, errSealed},
		"other purpose": {sealerOf('a'), "sign-in", sealed, errSealed},
		"changed":       {sealerOf('a'), "session", string(flipped), errSealed},
		"cut off":       {sealerOf('a'), "session", sealed[:20], errSealed},
		"not base64":    {sealerOf('a'), "session", "!", errSealed},
		"empty":         {sealerOf('a'), "session", "", errSealed},
	} {
		var got string
		if err := c.with.open(c.purpose, c.text, &got); !errors.Is(err, c.want) || c.want == nil && got != "secret" {
			t.Errorf("%s: opens as %q, %v", name, got, err)
		}
	}
}
