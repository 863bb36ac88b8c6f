package wire

import (
	"testing"
)

func TestMessagesWithoutValues(t *testing.T) {
	for message, want := range map[string]string{
		`Required value: needed`:                                   `Required value: needed`,
		`Invalid value: "sec\"ret": must be short`:                 `Invalid value: must be short`,
		`Invalid value: -1: spec.replicas in body should be more`:  `Invalid value: should be more`,
		`Unsupported value: "loud": supported values: "a", "b"`:    `Unsupported value: supported values: "a", "b"`,
		`Invalid value: "object": rule broken: see "x": and so on`: `Invalid value: rule broken: see "x": and so on`,
	} {
		if got := withoutValue(message); got != want {
			t.Errorf("%s becomes %s, want %s", message, got, want)
		}
	}
}
