{{/*
Names, labels and the image. What a pod template contains must not depend on the
chart's version: an upgrade of the chart alone would roll every Darkroom.
*/}}

{{- define "darkroom.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/*
The name of every resource, unless a suffix says otherwise. It is also a Service
name, so at most 63 characters that start with a letter and hold no dot, while a
release name may start with a digit and hold dots.

No two releases get the same name. A name without "-darkroom" at its end comes from a
release that is called so; with it, from the release without it; and of 63 characters,
from a release whose name has to be rewritten (see darkroom.derivedName).
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
A name derived from another: a start that people recognise and a hash of the whole,
63 characters together. Releases and Darkrooms have names of at most 53 characters, and
the resources named after them have less than 63, so none of those is ever the same.
*/}}
{{- define "darkroom.derivedName" -}}
{{- $start := index . 0 | trunc 24 | trimSuffix "-" -}}
{{- printf "%s-%s" $start (index . 1 | sha256sum) | trunc 63 -}}
{{- end -}}

{{/*
The ConfigMap and the Secret with inline credentials are named by what they hold. A
pod reads them whenever it starts, so a pod of an old template, made anew while a
change is being rolled out, must still find what that template was made for. Their
names may have 253 characters, so the suffixes always fit.
*/}}
{{- define "darkroom.configName" -}}
{{- printf "%s-%s" (include "darkroom.fullname" .) (include "darkroom.config" . | fromYaml | toJson | sha256sum | trunc 10) -}}
{{- end -}}

{{- define "darkroom.credentialsName" -}}
{{- printf "%s-credentials-%s" (include "darkroom.fullname" .) (include "darkroom.secretData" . | trim | sha256sum | trunc 10) -}}
{{- end -}}

{{/*
The Service that leads nowhere. "<name>-blocked" would be the Service of a Darkroom that
is called so.
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

{{/* Immutable in a Deployment, hence nothing that may ever change. */}}
{{- define "darkroom.selectorLabels" -}}
app.kubernetes.io/name: {{ include "darkroom.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/*
Labels of an object's metadata. The chart's own labels win over commonLabels:
Helm finds what it owns by app.kubernetes.io/managed-by, other parts by the
selector labels.
*/}}
{{- define "darkroom.labels" -}}
{{- $own := include "darkroom.selectorLabels" . | fromYaml -}}
{{- $_ := set $own "app.kubernetes.io/component" "server" -}}
{{- $_ := set $own "app.kubernetes.io/part-of" "darkroom" -}}
{{- $_ := set $own "app.kubernetes.io/managed-by" .Release.Service -}}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-") -}}
{{- $version := include "darkroom.imageTag" . | trunc 63 | trimAll "._-" -}}
{{- if $version -}}
{{- $_ := set $own "app.kubernetes.io/version" $version -}}
{{- end -}}
{{- merge $own (.Values.commonLabels | default dict) | toYaml -}}
{{- end -}}

{{/*
Labels of the pods: podLabels, but never in place of those that selectors rely on.
*/}}
{{- define "darkroom.podLabels" -}}
{{- $own := include "darkroom.selectorLabels" . | fromYaml -}}
{{- $_ := set $own "app.kubernetes.io/component" "server" -}}
{{- merge $own (.Values.podLabels | default dict) | toYaml -}}
{{- end -}}

{{/*
The image tag; empty when only a digest is given. Darkroom's release tags are
semantic versions with a leading "v", which people forget. Tags cannot hold the
"+" of build metadata; "-" takes its place, as is the custom. Whatever is no
semantic version (latest, a commit) is a tag of somebody's own and used as it is.
*/}}
{{- define "darkroom.imageTag" -}}
{{- $tag := .Values.image.tag -}}
{{- if and (not $tag) (not .Values.image.digest) -}}
  {{- $tag = .Chart.AppVersion -}}
{{- end -}}
{{- $semantic := "^v?(0|[1-9][0-9]*)[.](0|[1-9][0-9]*)[.](0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?([+][0-9A-Za-z.-]+)?$" -}}
{{- if regexMatch $semantic $tag -}}
  {{- $tag = printf "v%s" (trimPrefix "v" $tag) -}}
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
The image that Darkroom's authors publish is for amd64 alone, so its pods must not be put
on other nodes. Images of other repositories may be for any.
*/}}
{{- define "darkroom.nodeSelector" -}}
{{- $selector := dict -}}
{{- if has .Values.image.repository (list "gojektech/darkroom" "docker.io/gojektech/darkroom") -}}
{{- $_ := set $selector "kubernetes.io/arch" "amd64" -}}
{{- end -}}
{{- with merge (dict) .Values.nodeSelector $selector -}}
{{- toYaml . -}}
{{- end -}}
{{- end -}}

{{/*
OpenShift gives each namespace a range of user IDs, sets one of them, and refuses pods
that ask for others. So the chart's own IDs are left out there; others are kept.
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

{{/* "true" when there is an Ingress: where nothing is said, unless there is an HTTPRoute. */}}
{{- define "darkroom.hasIngress" -}}
{{- if ternary .Values.ingress.enabled (not .Values.gateway.enabled) (kindIs "bool" .Values.ingress.enabled) -}}true{{- end -}}
{{- end -}}

{{/* "true" when some host is routed to the pods, by an Ingress or an HTTPRoute. */}}
{{- define "darkroom.routed" -}}
{{- if and .Values.hosts (or .Values.gateway.enabled (include "darkroom.hasIngress" .)) -}}true{{- end -}}
{{- end -}}

{{/*
"true" when more than one pod is sure to run. A number of pods that somebody else
owns (replicaCount null) is not known here, and a budget for a single pod would
block the drain of its node for ever.
*/}}
{{- define "darkroom.severalPods" -}}
{{- if .Values.autoscaling.enabled -}}
  {{- if gt (int64 .Values.autoscaling.minReplicas) 1 -}}true{{- end -}}
{{- else if not (kindIs "invalid" .Values.replicaCount) -}}
  {{- if gt (int64 .Values.replicaCount) 1 -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{/* A probe: the timing comes from values, what is asked does not. */}}
{{- define "darkroom.probe" -}}
httpGet:
  path: /ping
  port: http
{{ toYaml . }}
{{- end -}}
