// Package values turns a Darkroom into the values of the Darkroom chart.
//
// The translation is pure: it reads the resource and the operator's options,
// and neither the cluster nor the clock. So the operator, the template command
// and the API server's preview give the same answer, and a test needs no server.
//
// The story starts in translator.go. A new kind of source is one function and one entry in
// source.go, one enum value and one CEL rule in the API.
//
// The API server checks a resource by the schema and the CEL rules of its definition before it
// stores it, as internal/definition does where there is no API server. Here is only what these
// cannot express: names and labels as Kubernetes has them, hosts with the operator's base domain,
// quantities that contradict each other, and the administrator's options. A resource that was
// stored before a rule existed is refused by the schema of the chart (values.schema.json) when it
// is rendered.
package values
