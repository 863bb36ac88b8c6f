package apiserver_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// outline lists what clients depend on, a line for each operation and schema: parameters,
// bodies and status codes; fields with their types and values. "!" marks what is required.
func outline(api map[string]any) string {
	var out strings.Builder
	paths := object(api, "paths")
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		operations := object(paths, path)
		for _, method := range slices.Sorted(maps.Keys(operations)) {
			operation := object(operations, method)
			fmt.Fprintf(&out, "%s %s %v", strings.ToUpper(method), path, operation["operationId"])
			parameters, _ := operation["parameters"].([]any)
			for _, raw := range parameters {
				parameter := raw.(map[string]any)
				fmt.Fprintf(&out, " %v:%v%s", parameter["in"], parameter["name"], mark(parameter["required"] == true))
			}
			fmt.Fprintf(&out, "%s >", content(" < ", object(operation, "requestBody", "content")))
			responses := object(operation, "responses")
			for _, status := range slices.Sorted(maps.Keys(responses)) {
				fmt.Fprintf(&out, " %s%s", status, content(" ", object(responses, status, "content")))
			}
			out.WriteString("\n")
		}
	}
	schemas := object(api, "components", "schemas")
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		schema := object(schemas, name)
		required, _ := schema["required"].([]any)
		fmt.Fprintf(&out, "%s:", name)
		properties := object(schema, "properties")
		for _, field := range slices.Sorted(maps.Keys(properties)) {
			fmt.Fprintf(&out, " %s%s %s,", field, mark(slices.Contains(required, any(field))), typeOf(object(properties, field)))
		}
		out.WriteString("\n")
	}
	return strings.ReplaceAll(out.String(), ",\n", "\n")
}

// content lists media types with their schemas, without that of errors.
func content(before string, all map[string]any) string {
	var out strings.Builder
	for _, mediaType := range slices.Sorted(maps.Keys(all)) {
		if mediaType != problem.MediaType {
			out.WriteString(before + mediaType + " " + typeOf(object(all, mediaType, "schema")))
		}
	}
	return out.String()
}

func mark(required bool) string {
	if required {
		return "!"
	}
	return ""
}

// typeOf is the type of a schema, with its values if it is an enum.
func typeOf(schema map[string]any) string {
	if reference, is := schema["$ref"].(string); is {
		return reference[strings.LastIndex(reference, "/")+1:]
	}
	name := "any"
	if is, known := schema["type"]; known {
		name = fmt.Sprint(is)
	}
	switch items, values := object(schema, "items"), object(schema, "additionalProperties"); {
	case items != nil:
		name = "[]" + typeOf(items)
	case values != nil:
		name = "map of " + typeOf(values)
	}
	if enum, is := schema["enum"].([]any); is {
		name += strings.ReplaceAll(fmt.Sprint(enum), " ", "|")
	}
	return name
}

// object is the object at the end of a path of keys, or nil.
func object(in map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		in, _ = in[key].(map[string]any)
	}
	return in
}

func checkOutline(t *testing.T, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(goldenOutline, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenOutline)
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Collect(strings.Lines(string(want)))
	after := slices.Collect(strings.Lines(got))
	for _, line := range before {
		if !slices.Contains(after, line) {
			t.Errorf("no longer in the document: %s", line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			t.Errorf("not in %s: %s", goldenOutline, line)
		}
	}
	if t.Failed() {
		t.Log("if clients can live with the changes: go test ./internal/apiserver -run TestOpenAPIDocument -update")
	}
}
