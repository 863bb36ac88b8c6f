package wire

import (
	"encoding/json"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

func TestMergePatch(t *testing.T) {
	// The examples of RFC 7396, appendix A, whose results are objects.
	for _, c := range []struct{ base, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		base, _ := object([]byte(c.base))
		patch, _ := object([]byte(c.patch))
		got, _ := json.Marshal(mergePatch(base, patch))
		if string(got) != c.want {
			t.Errorf("%s patched with %s is %s, want %s", c.base, c.patch, got, c.want)
		}
	}
}

func TestNamesOfFieldsInErrors(t *testing.T) {
	for body, want := range map[string]problem.Field{
		`{"replicas":1.5}`:                        {Location: "body.replicas", Message: "must be an integer of 32 bits"},
		`{"replicas":99999999999}`:                {Location: "body.replicas", Message: "must be an integer of 32 bits"},
		`{"source":{"secureProtocol":"yes"}}`:     {Location: "body.source.secureProtocol", Message: "must be true or false"},
		`{"subDomains":"foo"}`:                    {Location: "body.subDomains", Message: "must be a list"},
		`{"source":{"baseUrl":["a"]}}`:            {Location: "body.source.baseUrl", Message: "must be a string"},
		`{"source":"https://example.com/images"}`: {Location: "body.source", Message: "must be an object"},
	} {
		if got := typeProblem(json.Unmarshal([]byte(body), &DarkroomInput{})); got != want {
			t.Errorf("%s is %+v, want %+v", body, got, want)
		}
	}
}
