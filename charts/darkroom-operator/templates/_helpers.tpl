{{/* The prefix of all names in the namespace, unique per release: a name without the suffix
-darkroom-operator is the release name, a name with it is the release name plus the suffix, and a name that is too
long or not a valid Service name contains a hash. With the longest suffix, 27 of the 63 characters of a name are left. */}}
{{- define "operator.name" -}}
{{- $name := include "operator.longName" . }}
{{- if or (gt (len $name) 27) (not (regexMatch "^[a-z][-a-z0-9]*$" $name)) }}
{{- $start := ternary $name .Chart.Name (regexMatch "^[a-z]" $name) | replace "." "-" | trunc 18 | trimSuffix "-" }}
{{- $name = printf "%s-%s" $start ($name | sha256sum | trunc 8) }}
{{- end }}
{{- $name }}
{{- end }}

{{- define "operator.longName" -}}
{{- $base := .Values.nameOverride | default .Chart.Name }}
{{- $name := .Release.Name }}
{{- if or (not (contains $base $name)) (hasSuffix (printf "-%s" $base) $name) }}{{ $name = printf "%s-%s" $name $base }}{{ end }}
{{- .Values.fullnameOverride | default $name }}
{{- end }}

{{/* The name of a ServiceAccount. Arguments: dict root, and account, the suffix of the Deployment. */}}
{{- define "operator.account" -}}
{{- $values := index .root.Values (ternary "apiserver" "manager" (eq .account "apiserver")) }}
{{- $own := $values.serviceAccount | default dict }}
{{- $name := printf "%s-%s" (include "operator.name" .root) .account }}
{{- $own.name | default (ternary $name "default" (dig "create" true $own)) }}
{{- end }}

{{/* The ServiceAccount, unless someone else creates it. Arguments: dict root, and account. */}}
{{- define "operator.serviceAccount" -}}
{{- $values := index .root.Values (ternary "apiserver" "manager" (eq .account "apiserver")) }}
{{- $own := $values.serviceAccount | default dict }}
{{- if dig "create" true $own }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "operator.account" . | quote }}
  namespace: {{ .root.Release.Namespace | quote }}
  labels: {{- include "operator.labels" .root | nindent 4 }}
    {{- if eq .account "apiserver" }}
    app.kubernetes.io/component: apiserver
    {{- end }}
  {{- with $own.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* The prefix of names in the cluster and in other namespaces. Releases of one name in several namespaces must not share a ClusterRole. In
the namespace of the documents it is the name in config/, unless the name contains a dot: no namespace does. */}}
{{- define "operator.clusterName" -}}
{{- include "operator.longName" . }}
{{- if or (ne .Release.Namespace "darkroom-system") (contains "." (include "operator.longName" .)) }}.{{ .Release.Namespace }}{{ end }}
{{- end }}

{{- define "operator.selector" -}}
app.kubernetes.io/name: darkroom-operator
{{- if ne (include "operator.name" .) "darkroom-operator" }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}
{{- end }}

{{- define "operator.labels" -}}
{{ include "operator.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Labels of an object with its own labels, which take precedence. Arguments: the context, and these labels. */}}
{{- define "operator.ownLabels" -}}
{{- toYaml (merge (dict) (index . 1 | default dict) (include "operator.labels" (index . 0) | fromYaml)) }}
{{- end }}

{{/* Labels of pods. Arguments: dict root, component, and labels, the component's own labels. */}}
{{- define "operator.podLabels" -}}
{{ include "operator.selector" .root }}
app.kubernetes.io/component: {{ .component }}
{{- with merge (dict) (.labels | default dict) (.root.Values.commonLabels | default dict) }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "operator.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default (printf "v%s" .Chart.AppVersion) }}
{{- end }}
{{- end }}

{{/* Flags of a command that are set in values. Arguments: dict values, and names of flags.
Helm 4 removes values that are null. index returns null for these, where get returns "". */}}
{{- define "operator.flags" -}}
{{- $values := .values }}
{{- range $flag := .flags }}
{{- $value := index $values (camelcase $flag | untitle) }}
{{- if kindIs "slice" $value }}
{{- range $value }}
- {{ printf "--%s=%s" $flag . | quote }}
{{- end }}
{{- else if and (kindIs "bool" $value) $value }}
- --{{ $flag }}
{{- else if not (kindIs "invalid" $value) }}
{{- /* Large numbers must not become 1e+06. */}}
- {{ printf "--%s=%s" $flag (ternary $value (toJson $value) (kindIs "string" $value)) | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* The variables of a container. extraEnv replaces a variable with the same name, because names are the merge key of
this list. Arguments: dict root, component, which is also the name of the container, and values, the component's
values. */}}
{{- define "operator.env" -}}
{{- $extra := dict }}
{{- $followed := list "WATCH_NAMESPACE" "DARKROOM_WATCH_NAMESPACES" "DARKROOM_METRICS_BIND_ADDRESS" "DARKROOM_METRICS_SECURE" "DARKROOM_HEALTH_PROBE_BIND_ADDRESS" "DARKROOM_LEADER_ELECT" "DARKROOM_LEASE_NAMESPACE" "DARKROOM_INSTALLATION" "DARKROOM_SELECTOR" "DARKROOM_PROBE_VIA" "DARKROOM_BIND_ADDRESS" "DARKROOM_TLS_CERT_FILE" }}
{{- range .values.extraEnv }}
{{- if has .name $followed }}
{{- $value := ternary "watchNamespaces" (trimPrefix "DARKROOM_" .name | lower | camelcase | untitle) (eq .name "WATCH_NAMESPACE") }}
{{- fail (printf "%s.extraEnv: %s cannot be set here, because roles, ports or probes would not follow; set %s.%s" $.component .name $.component $value) }}
{{- end }}
{{- if hasKey $extra .name }}
{{- fail (printf "%s.extraEnv: duplicate name %s; remove one of the entries" $.component .name) }}
{{- end }}
{{- $_ := set $extra .name true }}
{{- end }}
- name: WATCH_NAMESPACE
  value: {{ include "operator.watched" (dict "root" .root "namespaces" .values.watchNamespaces) | quote }}
{{- if not (hasKey $extra "GOMEMLIMIT") }}
- name: GOMEMLIMIT
  valueFrom:
    resourceFieldRef:
      containerName: {{ .component }}
      resource: limits.memory
{{- end }}
{{- range $name, $image := dict "RELATED_IMAGE_DARKROOM" .root.Values.darkroomImage "RELATED_IMAGE_GATE" .root.Values.gateImage }}
{{- if and $image (not (hasKey $extra $name)) }}
- name: {{ $name }}
  value: {{ $image | quote }}
{{- end }}
{{- end }}
{{- with .values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* One flag for the whole list, so that an empty list is passed too. */}}
{{- define "operator.joinIngressAnnotations" -}}
{{- if kindIs "slice" .ingressAnnotations }}
{{- $_ := set . "ingressAnnotations" (join "," .ingressAnnotations) }}
{{- end }}
{{- end }}

{{/* The port of an address; empty if the address disables a server. */}}
{{- define "operator.port" -}}
{{- $port := . | splitList ":" | last | int }}
{{- if $port }}{{ $port }}{{ end }}
{{- end }}

{{/* Rejects an address that probes cannot reach. Arguments: the value, and its name. */}}
{{- define "operator.probed" -}}
{{- if regexMatch "^(127[.]|localhost:|\\[::1\\])" (index . 0 | default "") }}
{{- fail (printf "%s: the kubelet's probes cannot reach %s; set only the port, such as :%s" (index . 1) (index . 0) (splitList ":" (index . 0) | last)) }}
{{- end }}
{{- end }}

{{/* Namespaces of the Roles. Arguments: dict root, and namespaces, the component's namespaces. */}}
{{- define "operator.roleNamespaces" -}}
{{- $namespaces := .namespaces | default .root.Values.manager.watchNamespaces | default (list .root.Release.Namespace) }}
{{- toJson (uniq $namespaces) }}
{{- end }}

{{- define "operator.watched" -}}
{{- $own := list }}
{{- if and .root.Values.rbac.namespaced (not .root.Values.manager.watchNamespaces) }}{{ $own = list .root.Release.Namespace }}{{ end }}
{{- join "," (.namespaces | default .root.Values.manager.watchNamespaces | default $own) }}
{{- end }}

{{/* Security contexts: the values take precedence over the defaults. Upgrades with --reuse-values may lack the
values. */}}
{{- define "operator.podSecurityContext" -}}
{{- $default := dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault") }}
{{- toYaml (mergeOverwrite $default (.Values.podSecurityContext | default dict)) }}
{{- end }}

{{- define "operator.securityContext" -}}
{{- $default := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL")) }}
{{- toYaml (mergeOverwrite $default (.Values.securityContext | default dict)) }}
{{- end }}

{{/* Scheduling fields of both Deployments. Arguments: dict root, component, and values, the
component's values. */}}
{{- define "operator.scheduling" -}}
{{- $root := .root }}
{{- $component := .component }}
{{- with .values }}
nodeSelector: {{- mergeOverwrite (dict "kubernetes.io/os" "linux") (.nodeSelector | default dict) | toYaml | nindent 2 }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 0 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .topologySpreadConstraints }}
topologySpreadConstraints:
{{- range . }}
- {{ toYaml . | nindent 2 | trim }}
  {{- if not .labelSelector }}
  labelSelector:
    matchLabels: {{- include "operator.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ $component }}
  {{- end }}
{{- end }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* A PodDisruptionBudget, if it has fields. Arguments: dict root, component, name (the suffix),
and budget. */}}
{{- define "operator.disruptionBudget" -}}
{{- with .budget }}
{{- if eq (hasKey . "minAvailable") (hasKey . "maxUnavailable") }}
{{- fail (printf "%s.podDisruptionBudget: set either minAvailable or maxUnavailable; without both, no pod may be evicted" $.component) }}
{{- end }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "operator.name" $.root }}-{{ $.name }}
  namespace: {{ $.root.Release.Namespace | quote }}
  labels: {{- include "operator.labels" $.root | nindent 4 }}
    app.kubernetes.io/component: {{ $.component }}
spec:
  {{- toYaml . | nindent 2 }}
  selector:
    matchLabels: {{- include "operator.selector" $.root | nindent 6 }}
      app.kubernetes.io/component: {{ $.component }}
{{- end }}
{{- end }}

{{/* A role with rules from files/: a ClusterRole, or a Role in each watched namespace. Arguments: dict root, file, name,
account, and namespaces, the component's namespaces. */}}
{{- define "operator.role" -}}
{{- $root := .root }}
{{- $rules := (.root.Files.Get .file | fromYaml).rules }}
{{- $name := printf "%s-%s" (include "operator.clusterName" .root) .name }}
{{- $scopes := list "" }}
{{- if .root.Values.rbac.namespaced }}{{ $scopes = include "operator.roleNamespaces" . | fromJsonArray }}{{ end }}
{{- range $namespace := $scopes }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ if $namespace }}Role{{ else }}ClusterRole{{ end }}
metadata:
  name: {{ $name }}-role
  {{- with $namespace }}
  namespace: {{ . | quote }}
  {{- end }}
  labels: {{- include "operator.labels" $root | nindent 4 }}
rules: {{- toYaml $rules | nindent 0 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ if $namespace }}RoleBinding{{ else }}ClusterRoleBinding{{ end }}
metadata:
  name: {{ $name }}-rolebinding
  {{- with $namespace }}
  namespace: {{ . | quote }}
  {{- end }}
  labels: {{- include "operator.labels" $root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ if $namespace }}Role{{ else }}ClusterRole{{ end }}
  name: {{ $name }}-role
subjects:
- kind: ServiceAccount
  name: {{ include "operator.account" $ | quote }}
  namespace: {{ $root.Release.Namespace | quote }}
{{- end }}
{{- end }}

{{/* A ClusterRole with rules from files/ and its binding, for cluster-scoped permissions. */}}
{{- define "operator.clusterRole" -}}
{{- $name := printf "%s-%s" (include "operator.clusterName" .root) .name }}
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
  name: {{ include "operator.account" . | quote }}
  namespace: {{ .root.Release.Namespace | quote }}
{{- end }}

{{/* Scrape interval and timeout. */}}
{{- define "operator.scrape" -}}
interval: {{ .Values.serviceMonitor.interval | quote }}
{{- with .Values.serviceMonitor.scrapeTimeout }}
scrapeTimeout: {{ . | quote }}
{{- end }}
{{- end }}
