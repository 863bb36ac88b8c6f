package drift

import "testing"

func TestRecordsAreTheSameButForResourceVersions(t *testing.T) {
	const digest, other = "zGmzdrtE+BFS5Cp5JgNDq0dPGWsV1RM1ZsqHwYd7JXM", "AGmzdrtE+BFS5Cp5JgNDq0dPGWsV1RM1ZsqHwYd7JXM"
	record := func(resourceVersion, manifest, state string) string {
		return `{"manifest":"` + manifest + `","objects":[{"kind":"Service","name":"cats",` +
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
		"another manifest":           {record("1", digest, digest), record("1", other, digest), false},
		"no objects":                 {record("1", digest, digest), unsettled, false},
		"nothing stored":             {"", record("1", digest, digest), false},
		"both cannot be read":        {`{"objects":[{"state":"?"}]}`, `{"objects":[{"state":"?"}]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			if same := Same([]byte(test.a), []byte(test.b)); same != test.same {
				t.Errorf("the records are the same: %t, want %t", same, test.same)
			}
		})
	}
}
