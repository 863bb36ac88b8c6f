// Package values translates a Darkroom into values for the Darkroom chart.
//
// The translation is pure: it depends on the resource and the operator's options, but not on the cluster or the time.
// So the operator, the template command and the preview of the API server produce the same result, and tests need no
// server.
//
// translator.go is the entry point. A new kind of source needs a function and an entry in source.go, and an enum value
// and a CEL rule in the API.
//
// Before a resource is stored, the API server validates it by the schema and the CEL rules of the CRD; package
// definition does the same without an API server. This package checks only rules that these cannot express: the syntax
// of names and labels, hosts with the operator's base domain, contradicting quantities, and the administrator's
// options. A resource that was stored before a rule existed is rejected by the schema of the chart (values.schema.json)
// when it is rendered.
package values
