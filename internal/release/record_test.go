package release

import "testing"

func TestRecordsAreTheSameButForResourceVersions(t *testing.T) {
	const digest, other = "zGmzdrtE+BFS5Cp5JgNDq0dPGWsV1RM1ZsqHwYd7JXM", "AGmzdrtE+BFS5Cp5JgNDq0dPGWsV1RM1ZsqHwYd7JXM"
	record := func(resourceVersion, source, state string) string {
		return `{"manifest":"sha256:m","source":"` + source + `","objects":[{"kind":"Service","name":"cats",` +
			`"resourceVersion":"` + resourceVersion + `","wanted":"` + digest + `","state":"` + state + `"}]}`
	}
	const unsettled = `{"manifest":"sha256:m","objects":null}`
	for name, test := range map[string]struct {
		a, b string
		same bool
	}{
		"equal":                      {record("1", digest, digest), record("1", digest, digest), true},
		"another resource version":   {record("1", digest, digest), record("2", digest, digest), true},
		"another state of an object": {record("1", digest, digest), record("1", digest, other), false},
		"another source":             {record("1", digest, digest), record("1", other, digest), false},
		"no source and no objects":   {record("1", digest, digest), unsettled, false},
		"nothing stored":             {"", record("1", digest, digest), false},
		"both cannot be read":        {`{"objects":[{"state":"?"}]}`, `{"objects":[{"state":"?"}]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			if same := sameRecord([]byte(test.a), []byte(test.b)); same != test.same {
				t.Errorf("the records are the same: %t, want %t", same, test.same)
			}
		})
	}
}

// An operator that spelled them otherwise would write every record anew.
func TestDigestsAreSpelledAsTheyAreStored(t *testing.T) {
	if got, want := identityOf("a: b"), "sha256:75cd1899337ffbc9341398f7456f1027e2fc4b2658f9f0555a7a965cb309c6dd"; got != want {
		t.Errorf("the identity of a manifest is %s, want %s", got, want)
	}
	text, err := digestOf("a: b").MarshalText()
	if want := "iOiMMjFBvbgMlgheQHZX2X2y7sgRIwEZO0pVBVUPKR4"; err != nil || string(text) != want {
		t.Errorf("a digest is %s (%v), want %s", text, err, want)
	}
}
