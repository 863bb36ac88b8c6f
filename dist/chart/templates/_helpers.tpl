{{/* The start of all names: the release's, with the chart's in it. The longest end leaves 27
letters of the 63 that a name may have. */}}
{{- define "operator.name" -}}
{{- $name := .Release.Name }}
{{- if not (contains .Chart.Name $name) }}{{ $name = printf "%s-%s" $name .Chart.Name }}{{ end }}
{{- $name | trunc 27 | trimSuffix "-" }}
{{- end }}

{{- define "operator.selector" -}}
app.kubernetes.io/name: darkroom-operator
{{- if ne (include "operator.name" .) "darkroom-operator" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- end }}

{{- define "operator.labels" -}}
{{ include "operator.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "operator.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default (printf "v%s" .Chart.AppVersion) }}
{{- end }}

{{/* The flags of a program whose values are set: dict values, and names as the program has them. */}}
{{- define "operator.flags" -}}
{{- $values := .values }}
{{- range $flag := .flags }}
{{- $value := get $values (camelcase $flag | untitle) }}
{{- if kindIs "slice" $value }}
{{- range $value }}
- --{{ $flag }}={{ . }}
{{- end }}
{{- else if and (kindIs "bool" $value) $value }}
- --{{ $flag }}
{{- else if not (kindIs "invalid" $value) }}
{{- /* A large number must not become 1e+06. */}}
- --{{ $flag }}={{ if kindIs "float64" $value }}{{ $value | toJson }}{{ else }}{{ $value }}{{ end }}
{{- end }}
{{- end }}
{{- end }}

{{/* One flag for the whole list, so that an empty list is passed on too. */}}
{{- define "operator.joinIngressAnnotations" -}}
{{- if kindIs "slice" .ingressAnnotations }}
{{- $_ := set . "ingressAnnotations" (join "," .ingressAnnotations) }}
{{- end }}
{{- end }}

{{/* The namespaces in which Roles are made. */}}
{{- define "operator.roleNamespaces" -}}
{{- $namespaces := .Values.manager.watchNamespaces | default (list .Release.Namespace) }}
{{- toJson (uniq $namespaces) }}
{{- end }}

{{- define "operator.watched" -}}
{{- $own := list }}
{{- if and .root.Values.rbac.namespaced (not .root.Values.manager.watchNamespaces) }}{{ $own = list .root.Release.Namespace }}{{ end }}
{{- join "," (.namespaces | default .root.Values.manager.watchNamespaces | default $own) }}
{{- end }}

{{- define "operator.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop:
  - ALL
{{- end }}

{{/* What both Deployments leave to their values. */}}
{{- define "operator.scheduling" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 0 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* A role of rules from files/: a ClusterRole, or a Role in each watched namespace. */}}
{{- define "operator.role" -}}
{{- $root := .root }}
{{- $rules := (.root.Files.Get .file | fromYaml).rules }}
{{- $name := printf "%s-%s" (include "operator.name" .root) .name }}
{{- $scopes := list "" }}
{{- if .root.Values.rbac.namespaced }}{{ $scopes = include "operator.roleNamespaces" .root | fromJsonArray }}{{ end }}
{{- range $namespace := $scopes }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ if $namespace }}Role{{ else }}ClusterRole{{ end }}
metadata:
  name: {{ $name }}-role
  {{- with $namespace }}
  namespace: {{ . }}
  {{- end }}
  labels: {{- include "operator.labels" $root | nindent 4 }}
rules: {{- toYaml $rules | nindent 0 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ if $namespace }}RoleBinding{{ else }}ClusterRoleBinding{{ end }}
metadata:
  name: {{ $name }}-rolebinding
  {{- with $namespace }}
  namespace: {{ . }}
  {{- end }}
  labels: {{- include "operator.labels" $root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ if $namespace }}Role{{ else }}ClusterRole{{ end }}
  name: {{ $name }}-role
subjects:
- kind: ServiceAccount
  name: {{ include "operator.name" $root }}-{{ $.account }}
  namespace: {{ $root.Release.Namespace }}
{{- end }}
{{- end }}

{{/* A ClusterRole of rules from files/, bound to an account: for what belongs to no namespace. */}}
{{- define "operator.clusterRole" -}}
{{- $name := printf "%s-%s" (include "operator.name" .root) .name }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ $name }}-role
  labels: {{- include "operator.labels" .root | nindent 4 }}
rules: {{- toYaml (.root.Files.Get .file | fromYaml).rules | nindent 0 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ $name }}-rolebinding
  labels: {{- include "operator.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ $name }}-role
subjects:
- kind: ServiceAccount
  name: {{ include "operator.name" .root }}-{{ .account }}
  namespace: {{ .root.Release.Namespace }}
{{- end }}

{{/* How often Prometheus scrapes. */}}
{{- define "operator.scrape" -}}
interval: {{ .Values.serviceMonitor.interval }}
{{- with .Values.serviceMonitor.scrapeTimeout }}
scrapeTimeout: {{ . }}
{{- end }}
{{- end }}
