package oidc

import (
	"errors"
	"strings"
	"testing"
)

func sealerOf(t *testing.T, keys ...byte) *sealer {
	t.Helper()
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

func TestSealedValuesOpenWithKnownKeysOnly(t *testing.T) {
	sealed, err := sealerOf(t, 'a').seal("session", "secret")
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := sealerOf(t, 'a').seal("session", "secret"); again == sealed || strings.Contains(sealed, "secret") {
		t.Errorf("sealed is %q", sealed)
	}
	flipped := []byte(sealed)
	flipped[len(flipped)/2] ^= 1
	for name, c := range map[string]struct {
		with          *sealer
		purpose, text string
		want          error
	}{
		"same key":      {sealerOf(t, 'a'), "session", sealed, nil},
		"newer key too": {sealerOf(t, 'b', 'a'), "session", sealed, nil},
		"another key":   {sealerOf(t, 'b'), "session", sealed, errSealed},
		"other purpose": {sealerOf(t, 'a'), "sign-in", sealed, errSealed},
		"changed":       {sealerOf(t, 'a'), "session", string(flipped), errSealed},
		"cut off":       {sealerOf(t, 'a'), "session", sealed[:20], errSealed},
		"not base64":    {sealerOf(t, 'a'), "session", "!", errSealed},
		"empty":         {sealerOf(t, 'a'), "session", "", errSealed},
	} {
		var got string
		if err := c.with.open(c.purpose, c.text, &got); !errors.Is(err, c.want) || c.want == nil && got != "secret" {
			t.Errorf("%s: opens as %q, %v", name, got, err)
		}
	}
}
