package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// extraTemplate is an object more in a chart: of a kind that Darkrooms have, with the
// labels that all have.
const extraTemplate = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ printf "%%s-extra-%d" (include "darkroom.fullname" .) | quote }}
  namespace: {{ .Release.Namespace | quote }}
  labels:
    {{- include "darkroom.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "darkroom.selectorLabels" . | nindent 6 }}
  policyTypes: [Egress]
  egress:
    - {}
`

// leftOut are the templates of objects that a chart of four objects (ConfigMap, Service,
// Deployment and Ingress) has not.
var leftOut = []string{"serviceaccount.yaml", "service-blocked.yaml"}

// writeChart writes Darkroom's chart into a folder, with four objects only or some more
// than it has, and a watches file that names it. It tells the paths of both.
func writeChart(folder string, four bool, extra int) (chart, watches string, err error) {
	chart = filepath.Join(folder, "darkroom")
	if err := os.CopyFS(chart, os.DirFS(filepath.Join("helm-charts", "darkroom"))); err != nil {
		return "", "", fmt.Errorf("copy the chart: %w", err)
	}
	if four {
		for _, template := range leftOut {
			if err := os.Remove(filepath.Join(chart, "templates", template)); err != nil {
				return "", "", fmt.Errorf("leave an object out of the chart: %w", err)
			}
		}
	}
	for i := range extra {
		template := filepath.Join(chart, "templates", fmt.Sprintf("extra-%d.yaml", i))
		if err := os.WriteFile(template, fmt.Appendf(nil, extraTemplate, i), 0o600); err != nil {
			return "", "", err
		}
	}
	watches = filepath.Join(folder, "watches.yaml")
	entry := "- {group: deployments.example.com, version: v1alpha1, kind: Darkroom, chart: " + chart + "}\n"
	return chart, watches, os.WriteFile(watches, []byte(entry), 0o600)
}
