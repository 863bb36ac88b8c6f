package digest

import "testing"

// An operator that encoded digests differently would rewrite every stored record.
func TestDigestsAreEncodedAsTheyAreStored(t *testing.T) {
	if got, want := Identity("a: b"), "sha256:75cd1899337ffbc9341398f7456f1027e2fc4b2658f9f0555a7a965cb309c6dd"; got != want {
		t.Errorf("the identity of a manifest is %s, want %s", got, want)
	}
	text, err := Of("a: b").MarshalText()
	if want := "iOiMMjFBvbgMlgheQHZX2X2y7sgRIwEZO0pVBVUPKR4"; err != nil || string(text) != want {
		t.Errorf("a digest is %s (%v), want %s", text, err, want)
	}
	var read Digest
	if err := read.UnmarshalText(text); err != nil || read != Of("a: b") {
		t.Errorf("the text does not decode to the digest: %v", err)
	}
}

func TestAnInvalidDigestIsRefused(t *testing.T) {
	var read Digest
	for _, text := range []string{"", "?", "YWJj"} {
		if err := read.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
