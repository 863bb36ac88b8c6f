package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	kjson "sigs.k8s.io/json"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// readOnly are fields of responses that are ignored in requests.
var readOnly = []string{"uid", "resourceVersion", "etag", "generation", "createdAt", "deletedAt", "status"}

// Decoder reads the bodies of POST, PUT and PATCH.
type Decoder struct {
	schema   *huma.Schema
	registry huma.Registry
}

// NewDecoder returns a decoder. Its schemas contain only the types of fields; the cluster checks the bounds.
func NewDecoder() *Decoder {
	registry := NewRegistry()
	return &Decoder{registry: registry, schema: InputOf(registry)}
}

// InputOf returns the schema of a body, and adds it to a registry.
func InputOf(registry huma.Registry) *huma.Schema {
	return registry.Schema(reflect.TypeFor[DarkroomInput](), true, "")
}

// Decode merges a body into the previous object by JSON merge patch (RFC 7396). A complete body is a patch of an empty
// object, in which null means omitted. CheckShape, which limits the cost, must be called first.
func (d *Decoder) Decode(body []byte, before any) (*DarkroomInput, error) {
	merged, err := merge(body, before)
	if err != nil {
		return nil, err
	}
	for _, field := range readOnly {
		delete(merged, field)
	}
	additional, _ := merged["additionalSources"].([]any)
	for _, source := range append(additional, merged["source"]) {
		if source, ok := source.(map[string]any); ok {
			delete(source, "credentials")
		}
	}
	result := &huma.ValidateResult{}
	path := huma.NewPathBuffer(make([]byte, 0, 64), 0)
	path.Push("body")
	huma.Validate(d.registry, d.schema, path, huma.ModeWriteToServer, merged, result)
	refusal := BadInput(http.StatusUnprocessableEntity, "the body is invalid; see errors", result.Errors...)
	if errs := refusal.Errors; len(errs) > 0 {
		if len(errs) == 1 && d.isField(errs[0].Location) {
			refusal.Detail = fmt.Sprintf("the body is invalid: %s: %s", errs[0].Location, errs[0].Message)
		}
		return nil, refusal
	}
	raw, err := json.Marshal(merged)
	if err != nil {
		return nil, fmt.Errorf("encode Darkroom: %w", err)
	}
	input := &DarkroomInput{}
	if err := json.Unmarshal(raw, input); err != nil {
		return nil, problem.New(http.StatusUnprocessableEntity, "the body is invalid; see errors", typeProblem(err))
	}
	return input, nil
}

// merge merges a body into the previous object, or into an empty one.
func merge(body []byte, before any) (map[string]any, error) {
	sent, err := object(body)
	if err != nil {
		return nil, problem.New(http.StatusBadRequest, "the body is not a JSON object",
			problem.Field{Location: "body", Message: inOurWords(err.Error())})
	}
	base := map[string]any{}
	if before != nil {
		raw, err := json.Marshal(before)
		if err != nil {
			return nil, fmt.Errorf("encode Darkroom: %w", err)
		}
		if base, err = object(raw); err != nil {
			return nil, fmt.Errorf("decode Darkroom: %w", err)
		}
	}
	merged := mergePatch(base, sent)
	// Omitted keys are kept (see Expand), so only a patch can remove all keys.
	for _, field := range []string{"labels", "annotations"} {
		if value, isSent := sent[field]; isSent && value == nil && before != nil {
			merged[field] = map[string]any{}
		}
	}
	return merged, nil
}

// isField reports whether a location is a field of a Darkroom. Unknown names are not repeated in the detail, which may
// be logged.
func (d *Decoder) isField(location string) bool {
	name, inBody := strings.CutPrefix(location, "body.")
	schema := d.schema
	if schema.Ref != "" {
		schema = d.registry.SchemaFromRef(schema.Ref)
	}
	return inBody && schema.Properties[name] != nil
}

const (
	// maxTokens limits the JSON tokens of a body. A short body can contain many tokens, and each takes some hundred
	// bytes when decoded. The largest Darkroom that the CRD allows has a few thousand.
	maxTokens = 40_000
	// maxDepth limits the nesting of a body.
	maxDepth = 64
)

// CheckShape rejects small bodies that are expensive to decode, and duplicate keys, because decoders keep only the last
// one. It ignores syntax errors, which the decoder reports.
func CheckShape(body []byte) error {
	in := json.NewDecoder(bytes.NewReader(body))
	in.UseNumber() // numbers beyond float64 would end the check
	// open contains the keys of each enclosing object, and nil for each enclosing list.
	var open []map[string]bool
	isName := false
	for tokens := 0; ; tokens++ {
		token, err := in.Token()
		if err != nil {
			return nil
		}
		switch name, isText := token.(string); {
		case token == json.Delim('{'):
			open = append(open, map[string]bool{})
		case token == json.Delim('['):
			open = append(open, nil)
		case token == json.Delim('}'), token == json.Delim(']'):
			open = open[:len(open)-1]
		case isText && isName:
			names := open[len(open)-1]
			if names[name] {
				return problem.New(http.StatusBadRequest, "a name occurs twice in an object of the body",
					problem.Field{Location: "body", Message: fmt.Sprintf("%q must occur only once", name)})
			}
			names[name], isName = true, false
			continue
		}
		isName = len(open) > 0 && open[len(open)-1] != nil
		if tokens > maxTokens || len(open) > maxDepth {
			return problem.New(http.StatusUnprocessableEntity, "the body is too complex",
				problem.Field{
					Location: "body",
					Message:  fmt.Sprintf("must have at most %d names and values, nested at most %d deep", maxTokens, maxDepth),
				})
		}
	}
}

// object decodes an object. Integers stay exact, because float64 could round them.
func object(raw []byte) (map[string]any, error) {
	var out map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &out); err != nil {
		return nil, err
	}
	if out == nil {
		return nil, errors.New("must be an object")
	}
	return out, nil
}

// typeProblem returns the problem of a field whose type the schema cannot check, such as a quantity. It omits the
// value.
func typeProblem(err error) problem.Field {
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		return problem.Field{Location: "body." + fieldName(wrongType.Field), Message: "must be " + TypeWanted(wrongType.Type)}
	}
	if errors.Is(err, resource.ErrFormatWrong) || errors.Is(err, resource.ErrNumeric) ||
		errors.Is(err, resource.ErrSuffix) {
		return problem.Field{Location: "body.resources", Message: "must contain quantities such as 500m, 2 or 256Mi"}
	}
	return problem.Field{Location: "body", Message: "a value has the wrong type"}
}

// embedded are the embedded Go types, which do not appear in JSON.
var embedded = []string{
	reflect.TypeFor[v1alpha1.DarkroomSpec]().Name(), reflect.TypeFor[v1alpha1.Source]().Name(),
	reflect.TypeFor[v1alpha1.AdditionalSource]().Name(),
}

// fieldName returns the JSON path of a field. Go's decoder adds the names of embedded types.
func fieldName(path string) string {
	parts := slices.DeleteFunc(strings.Split(path, "."), func(part string) bool { return slices.Contains(embedded, part) })
	return strings.Join(parts, ".")
}

// TypeWanted returns the required type in words for users.
func TypeWanted(kind reflect.Type) string {
	switch kind.Kind() {
	case reflect.Int32, reflect.Int64, reflect.Int:
		return fmt.Sprintf("an integer of %d bits", kind.Bits())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

// mergePatch applies a JSON merge patch (RFC 7396).
func mergePatch(base, patch map[string]any) map[string]any {
	for name, value := range patch {
		switch value := value.(type) {
		case nil:
			delete(base, name)
		case map[string]any:
			inner, _ := base[name].(map[string]any)
			if inner == nil {
				inner = map[string]any{}
			}
			base[name] = mergePatch(inner, value)
		default:
			base[name] = value
		}
	}
	return base
}
