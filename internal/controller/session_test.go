package controller

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// A message that the API server stores differently would be reported again in each reconcile.
func TestMessagesAreStoredAsTheyAreReported(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.OneOf(rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(raw []byte) string { return string(raw) })), 1, 4)
		text := ""
		for _, piece := range pieces.Draw(t, "pieces") {
			text += piece
		}
		length := rapid.IntRange(len("…"), 100).Draw(t, "length")
		message := cut(text, length, "…")
		raw, err := json.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		var stored string
		if err := json.Unmarshal(raw, &stored); err != nil || stored != message || len(stored) > length {
			t.Fatalf("%q is stored as %q (%d bytes, at most %d)", message, stored, len(stored), length)
		}
		if again := cut(stored, length, "…"); again != stored {
			t.Fatalf("%q becomes %q", stored, again)
		}
	})
}
