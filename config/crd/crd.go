// Package crd embeds the CustomResourceDefinition of Darkrooms, for programs that check a Darkroom without a cluster.
package crd

import _ "embed"

// Darkrooms is the definition, in YAML.
//
//go:embed bases/deployments.example.com_darkrooms.yaml
var Darkrooms []byte
