package wire

import (
	"encoding/json"
	"errors"
	"strings"
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

func TestInvalidBodiesAreReportedFieldByField(t *testing.T) {
	decoder := NewDecoder()
	with := func(rest string) string {
		return `{"source":{"baseUrl":"https://example.com"},"subDomains":["a"],` + rest + `}`
	}
	for body, want := range map[string]problem.Field{
		`{"name":`:                         {Location: "body", Message: "must be valid JSON"},
		`{} {}`:                            {Location: "body", Message: "must be valid JSON"},
		`[]`:                               {Location: "body", Message: "a value has the wrong type or is out of range"},
		`{"source":{},"subDomains":"foo"}`: {Location: "body.subDomains", Message: "must be a list"},
		`{"source":{},"subDomains":[1]}`:   {Location: "body.subDomains[0]", Message: "must be a string"},
		`{"source":"https://example.com","subDomains":["a"]}`: {Location: "body.source", Message: "must be an object"},
		`{"source":{"baseUrl":["a"]},"subDomains":["a"]}`: {
			Location: "body.source.baseUrl",
			Message:  "must be a string",
		},
		`{"source":{"secureProtocol":"no"},"subDomains":["a"]}`: {
			Location: "body.source.secureProtocol",
			Message:  "must be true or false",
		},
		with(`"replicas":"1"`):         {Location: "body.replicas", Message: "must be an integer"},
		with(`"replicas":99999999999`): {Location: "body.replicas", Message: "must be an integer of 32 bits"},
		with(`"replicaz":1`):           {Location: "body.replicaz", Message: "unknown field"},
		with(`"Replicas":1`):           {Location: "body.Replicas", Message: "unknown field"},
		with(`"resources":{"limits":{"cpu":"much"}}`): {
			Location: "body.resources.limits.cpu",
			Message:  "must be a quantity such as 500m, 2 or 256Mi",
		},
	} {
		_, err := decoder.Decode([]byte(body), nil)
		var refusal *problem.Details
		if !errors.As(err, &refusal) || len(refusal.Errors) != 1 || refusal.Errors[0] != want {
			t.Errorf("%s: the error is %+v, want %+v", body, refusal, want)
		}
	}
	// The detail names only fields of the API.
	for body, want := range map[string]string{
		`{"source":{},"subDomains":"foo"}`: "the body is invalid: body.subDomains: must be a list",
		with(`"replicaz":1`):               "the body is invalid; see errors",
	} {
		if _, err := decoder.Decode([]byte(body), nil); err == nil || err.Error() != want {
			t.Errorf("%s: the detail is %v, want %q", body, err, want)
		}
	}
}

func TestANameMayBeGivenOnceInEachObject(t *testing.T) {
	for body, good := range map[string]bool{
		`{"a":"a","b":["a","a"],"c":{"a":"b","b":"a"},"d":[{"a":1},{"a":1}],"":{"":{}}}`: true,
		`{"a":1} {"a":1}`:              true,
		`{"a":1,"A":1}`:                true,
		`{"a":1,"a":1}`:                false,
		`{"a":{},"b":[[]],"a":[]}`:     false,
		`{"a":{"b":{"c":1},"b":2}}`:    false,
		`[[],{"b":[{"c":1,"c":"c"}]}]`: false,
		`{"":1,"":2}`:                  false,
	} {
		if err := CheckShape([]byte(body)); (err == nil) != good {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// The limits also apply if the body contains, for example, a number that exceeds float64.
func TestABodyIsBoundedWhateverItHas(t *testing.T) {
	for _, first := range []string{`0`, `1e400`, `-1e999`, `{"a":1e400}`, `"\ud800"`, `null`, `1e-999`} {
		for _, rest := range []string{
			strings.Repeat(",0", maxTokens), "," + strings.Repeat("[", 2*maxDepth) + strings.Repeat("]", 2*maxDepth),
		} {
			if CheckShape([]byte("["+first+rest+"]")) == nil {
				t.Errorf("a body of %d bytes that begins with %s is decoded", len(rest), first)
			}
		}
	}
}
