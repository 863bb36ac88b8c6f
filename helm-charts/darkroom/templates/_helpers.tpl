{{/*
Names, labels, the container image and probes. The pod template must not depend on the chart's version, because then every
upgrade of the chart would roll every Darkroom.
*/}}

{{- define "darkroom.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/*
The name of every resource, with or without a suffix. It must be a valid name of a Service: at most 63 characters,
starting with a letter, without dots. The name of a release may start with a digit and contain dots.

Names are unique per release. A name without the suffix "-darkroom" is the name of the release; a name with the suffix
is the name of the release plus the suffix; a name of 63 characters is derived from a release whose name is not valid
(see darkroom.derivedName).
*/}}
{{- define "darkroom.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else -}}
  {{- $base := default .Chart.Name .Values.nameOverride -}}
  {{- $name := .Release.Name -}}
  {{- if or (not (contains $base $name)) (hasSuffix (printf "-%s" $base) $name) -}}
    {{- $name = printf "%s-%s" $name $base -}}
  {{- end -}}
  {{- if and (regexMatch "^[a-z][-a-z0-9]*$" $name) (lt (len $name) 63) -}}
    {{- $name -}}
  {{- else -}}
    {{- $start := printf "%s-%s" $base (.Release.Name | replace "." "-") -}}
    {{- include "darkroom.derivedName" (list $start $name) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/*
A name derived from another: a readable prefix and a hash of the other name, 63
characters in total. Names of releases and Darkrooms have at most 53 characters, and names
of their resources fewer than 63, so they never conflict with a derived name.
*/}}
{{- define "darkroom.derivedName" -}}
{{- $start := index . 0 | trunc 24 | trimSuffix "-" -}}
{{- printf "%s-%s" $start (index . 1 | sha256sum) | trunc 63 -}}
{{- end -}}

{{/*
The names of the ConfigMap and of the Secret with inline credentials contain a hash of
their content. A pod of the old template that is recreated during a rollout must read the
old content. These names may have 253 characters, so the suffixes always fit.
*/}}
{{- define "darkroom.configName" -}}
{{- printf "%s-%s" (include "darkroom.fullname" .) (include "darkroom.config" . | fromYaml | toJson | sha256sum | trunc 10) -}}
{{- end -}}

{{- define "darkroom.credentialsName" -}}
{{- printf "%s-credentials-%s" (include "darkroom.fullname" .) (include "darkroom.secretData" . | trim | sha256sum | trunc 10) -}}
{{- end -}}

{{/*
The Service without pods. "<name>-blocked" could be the name of another Darkroom.
*/}}
{{- define "darkroom.blockedName" -}}
{{- $full := include "darkroom.fullname" . -}}
{{- $start := printf "%s-blocked" (trunc 16 $full | trimSuffix "-") -}}
{{- include "darkroom.derivedName" (list $start (printf "%s/blocked" $full)) -}}
{{- end -}}

{{- define "darkroom.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "darkroom.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* Immutable in a Deployment, so these labels never change. */}}
{{- define "darkroom.selectorLabels" -}}
app.kubernetes.io/name: {{ include "darkroom.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/*
Labels of an object's metadata. The chart's own labels take precedence over commonLabels:
Helm identifies its objects by app.kubernetes.io/managed-by, and selectors use the others.
*/}}
{{- define "darkroom.labels" -}}
{{- include "darkroom.componentLabels" (list . "server") -}}
{{- end -}}

{{- define "darkroom.componentLabels" -}}
{{- $own := list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" "app.kubernetes.io/part-of" "app.kubernetes.io/managed-by" "helm.sh/chart" -}}
{{- with index . 0 -}}
{{ include "darkroom.selectorLabels" . }}
app.kubernetes.io/component: {{ index $ 1 }}
app.kubernetes.io/part-of: darkroom
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
{{- with include "darkroom.imageTag" . | trunc 63 | trimAll "._-" }}
{{- $own = append $own "app.kubernetes.io/version" }}
app.kubernetes.io/version: {{ . | quote }}
{{- end }}
{{- range $name, $value := .Values.commonLabels }}
{{- if not (has $name $own) }}
{{ $name | quote }}: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}

{{/*
The annotations of an object: its own annotations take precedence over commonAnnotations. Arguments: the context, and the object's own annotations.
*/}}
{{- define "darkroom.annotations" -}}
{{- /* merge would treat an empty value as missing. */}}
{{- with mergeOverwrite (dict) ((index . 0).Values.commonAnnotations | default dict) (index . 1 | default dict) -}}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/*
Labels of the pods. Labels used by selectors take precedence over podLabels.
*/}}
{{- define "darkroom.podLabels" -}}
{{- $own := list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" -}}
{{ include "darkroom.selectorLabels" . }}
app.kubernetes.io/component: server
{{- range $name, $value := .Values.podLabels }}
{{- if not (has $name $own) }}
{{ $name | quote }}: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
The image tag; empty if only a digest is set. Darkroom's release tags are semantic
versions with a leading "v", which is added if it is missing. Tags cannot contain the "+"
of build metadata; it is replaced by "-", as is common. Other tags (latest, a commit) are
used unchanged.
*/}}
{{- define "darkroom.imageTag" -}}
{{- $tag := .Values.image.tag -}}
{{- if and (not $tag) (not .Values.image.digest) -}}
  {{- $tag = .Chart.AppVersion -}}
{{- end -}}
{{- $semantic := "^(0|[1-9][0-9]*)[.](0|[1-9][0-9]*)[.](0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?([+][0-9A-Za-z.-]+)?$" -}}
{{- if and (not (hasPrefix "v" $tag)) (regexMatch $semantic $tag) -}}
  {{- $tag = printf "v%s" $tag -}}
{{- end -}}
{{- $tag | replace "+" "-" -}}
{{- end -}}

{{- define "darkroom.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (include "darkroom.imageTag" .) -}}
{{- end -}}
{{- end -}}

{{/*
The container image of the Darkroom project is for amd64 only, so its pods must be
scheduled on amd64 nodes. Images of other repositories may support any architecture of Linux.
*/}}
{{- define "darkroom.nodeSelector" -}}
{{- $selector := dict "kubernetes.io/os" "linux" -}}
{{- if has .Values.image.repository (list "gojektech/darkroom" "docker.io/gojektech/darkroom") -}}
{{- $_ := set $selector "kubernetes.io/arch" "amd64" -}}
{{- end -}}
{{- with mergeOverwrite $selector (.Values.nodeSelector | default dict) -}}
{{- toYaml . -}}
{{- end -}}
{{- end -}}

{{/*
On OpenShift each namespace has a range of user IDs, and pods with other IDs are rejected.
The chart's default IDs are therefore omitted there; IDs that were set are kept.
*/}}
{{- define "darkroom.podSecurityContext" -}}
{{- $context := .Values.podSecurityContext | default dict -}}
{{- if .Capabilities.APIVersions.Has "security.openshift.io/v1" -}}
{{- range list "runAsUser" "runAsGroup" "fsGroup" -}}
{{- if eq (get $context . | toString) "65532" -}}
{{- $context = omit $context . -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with $context -}}
{{- toYaml . -}}
{{- end -}}
{{- end -}}

{{/* "true" if there is an Ingress: by default, if there is no HTTPRoute. */}}
{{- define "darkroom.hasIngress" -}}
{{- if ternary .Values.ingress.enabled (not .Values.gateway.enabled) (kindIs "bool" .Values.ingress.enabled) -}}true{{- end -}}
{{- end -}}

{{/* "true" if an Ingress or an HTTPRoute routes hosts to the pods. */}}
{{- define "darkroom.routed" -}}
{{- if and .Values.hosts (or .Values.gateway.enabled (include "darkroom.hasIngress" .)) -}}true{{- end -}}
{{- end -}}

{{/*
"true" if at least two pods are guaranteed. With replicaCount null the number is not known
here, and a PodDisruptionBudget for a single pod would block the drain of its node.
*/}}
{{- define "darkroom.severalPods" -}}
{{- if .Values.autoscaling.enabled -}}
  {{- if gt (int64 .Values.autoscaling.minReplicas) 1 -}}true{{- end -}}
{{- else if not (kindIs "invalid" .Values.replicaCount) -}}
  {{- if gt (int64 .Values.replicaCount) 1 -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{/* A probe: the request is fixed, the timing comes from values. */}}
{{- define "darkroom.probe" -}}
httpGet:
  path: /ping
  port: http
{{ toYaml . }}
{{- end -}}

{{/*
A startup probe that requests an image. The kubelet never gives up (2147483647 is the maximum): a restart does not fix a
source that fails.
*/}}
{{- define "darkroom.imageProbe" -}}
httpGet:
  path: {{ urlJoin (dict "path" .path "query" "w=16") | quote }}
  port: http
periodSeconds: 2
timeoutSeconds: {{ .timeoutSeconds | int64 }}
failureThreshold: 2147483647
{{- end -}}
