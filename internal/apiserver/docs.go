package apiserver

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed docs.html
var docsTemplate string

//go:embed docs.css
var docsStyle string

// docsPage is the API's description for people: one page, made from the OpenAPI
// document at the start, which loads nothing and runs nothing.
type docsPage struct {
	body   []byte
	policy string
}

func (p *docsPage) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Security-Policy", p.policy)
	reply(w, "text/html; charset=utf-8", p.body)
}

// docsOperation is one operation as the page shows it.
type docsOperation struct {
	Method, Path, Summary, Description string
	Parameters                         []docsField
	Body                               string
	Answers                            []string
}

type docsSchema struct {
	Name   string
	Fields []docsField
}

type docsField struct {
	Name, Type, Text string
	Required         bool
}

func newDocsPage(api *huma.OpenAPI) (*docsPage, error) {
	parsed, err := template.New("docs").Parse(docsTemplate)
	if err != nil {
		return nil, fmt.Errorf("parse page of the API: %w", err)
	}
	var body bytes.Buffer
	err = parsed.Execute(&body, map[string]any{
		"Title": api.Info.Title, "Version": api.Info.Version, "Description": api.Info.Description,
		"Style":      template.CSS(docsStyle), //nolint:gosec // it is a file of this package
		"Operations": docsOperations(api), "Schemas": docsSchemas(api),
	})
	if err != nil {
		return nil, fmt.Errorf("make page of the API: %w", err)
	}
	sum := sha256.Sum256([]byte(docsStyle))
	return &docsPage{
		body: body.Bytes(),
		policy: fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
			base64.StdEncoding.EncodeToString(sum[:])),
	}, nil
}

func docsOperations(api *huma.OpenAPI) []docsOperation {
	var out []docsOperation
	for path, item := range api.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op != nil {
				out = append(out, describeOperation(path, op))
			}
		}
	}
	order := []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	slices.SortFunc(out, func(a, b docsOperation) int {
		if byPath := strings.Compare(a.Path, b.Path); byPath != 0 {
			return byPath
		}
		return slices.Index(order, a.Method) - slices.Index(order, b.Method)
	})
	return out
}

func describeOperation(path string, op *huma.Operation) docsOperation {
	out := docsOperation{Method: op.Method, Path: path, Summary: op.Summary, Description: op.Description}
	for _, parameter := range op.Parameters {
		out.Parameters = append(out.Parameters, docsField{
			Name: parameter.Name, Type: parameter.In, Required: parameter.Required,
			Text: strings.TrimSpace(parameter.Description + " " + bounds(parameter.Schema)),
		})
	}
	if op.RequestBody != nil {
		for mediaType, body := range op.RequestBody.Content {
			out.Body = mediaType
			if name := typeName(body.Schema); name != "object" {
				out.Body += ": " + name
			}
		}
	}
	for status, answer := range op.Responses {
		text := status + " " + answer.Description
		for mediaType, body := range answer.Content {
			if name := typeName(body.Schema); name != "Problem" && mediaType == typeJSON {
				text += ": " + name
			}
		}
		out.Answers = append(out.Answers, text)
	}
	slices.Sort(out.Answers)
	return out
}

func bounds(schema *huma.Schema) string {
	switch {
	case schema == nil:
		return ""
	case len(schema.Enum) > 0:
		return fmt.Sprintf("(%v)", schema.Enum)
	case schema.Minimum != nil && schema.Maximum != nil:
		return fmt.Sprintf("(%v to %v)", *schema.Minimum, *schema.Maximum)
	}
	return ""
}

func docsSchemas(api *huma.OpenAPI) []docsSchema {
	var out []docsSchema
	for name, schema := range api.Components.Schemas.Map() {
		entry := docsSchema{Name: name}
		for field, of := range schema.Properties {
			entry.Fields = append(entry.Fields, docsField{
				Name: field, Type: typeName(of), Text: of.Description, Required: slices.Contains(schema.Required, field),
			})
		}
		slices.SortFunc(entry.Fields, func(a, b docsField) int { return strings.Compare(a.Name, b.Name) })
		out = append(out, entry)
	}
	slices.SortFunc(out, func(a, b docsSchema) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// typeName is a type in a word: that of a schema of the page, or of JSON.
func typeName(schema *huma.Schema) string {
	switch {
	case schema == nil:
		return ""
	case schema.Ref != "":
		return schema.Ref[strings.LastIndex(schema.Ref, "/")+1:]
	case schema.Type == huma.TypeArray:
		return "list of " + typeName(schema.Items)
	case schema.Type == huma.TypeObject:
		if values, ok := schema.AdditionalProperties.(*huma.Schema); ok {
			return "map of " + typeName(values)
		}
		return "object"
	case len(schema.OneOf) > 0:
		return "quantity"
	}
	return schema.Type
}
