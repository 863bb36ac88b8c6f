{{/*
Darkroom's configuration as environment variables (viper's naming: upper case, "_"
for "."). Only variables that the type of source uses are set; others would roll the pods unnecessarily.
*/}}

{{/* Data of the ConfigMap. It never contains a credential. */}}
{{- define "darkroom.config" -}}
{{- $source := .Values.source -}}
{{- $breaker := $source.breaker -}}
# Read by releases before v0.2.0; later releases listen on 3000 by default.
PORT: "3000"
LOG_LEVEL: {{ .Values.logLevel | quote }}
CACHE_TIME: {{ .Values.cache.ttlSeconds | int64 | quote }}
{{- with .Values.defaultParams }}
DEFAULTPARAMS: {{ include "darkroom.defaultParams" . | quote }}
{{- end }}
{{- if .Values.metrics.enabled }}
METRICS_SYSTEM: prometheus
{{- end }}
{{- with .Values.proxy.httpProxy }}
HTTP_PROXY: {{ . | quote }}
{{- end }}
{{- with .Values.proxy.httpsProxy }}
HTTPS_PROXY: {{ . | quote }}
{{- end }}
{{- with .Values.proxy.noProxy }}
NO_PROXY: {{ . | quote }}
{{- end }}
{{- include "darkroom.sourceConfig" (index (include "darkroom.sources" . | fromJson).items 0) }}
{{- if eq $source.type "S3" }}
# The circuit breaker of the S3 source needs a name.
SOURCE_HYSTRIX_COMMANDNAME: s3
{{- end }}
SOURCE_HYSTRIX_TIMEOUT: {{ $breaker.timeoutMilliseconds | int64 | quote }}
SOURCE_HYSTRIX_MAXCONCURRENTREQUESTS: {{ $breaker.maxConcurrentRequests | int64 | quote }}
SOURCE_HYSTRIX_REQUESTVOLUMETHRESHOLD: {{ $breaker.requestVolumeThreshold | int64 | quote }}
SOURCE_HYSTRIX_SLEEPWINDOW: {{ $breaker.sleepWindowMilliseconds | int64 | quote }}
SOURCE_HYSTRIX_ERRORPERCENTTHRESHOLD: {{ $breaker.errorPercentThreshold | int64 | quote }}
{{- if .Values.gate.enabled }}
{{- include "darkroom.gateConfig" . }}
{{- end }}
{{- end -}}

{{/* The variables of one of darkroom.sources. */}}
{{- define "darkroom.sourceConfig" -}}
{{- if eq .type "WebFolder" }}
{{ .variables }}KIND: webfolder
# Darkroom concatenates URL and path without checking for slashes.
{{ .variables }}BASEURL: {{ .baseUrl | trimSuffix "/" | quote }}
{{- else if eq .type "S3" }}
{{ .variables }}KIND: s3
{{ .variables }}BUCKET_NAME: {{ .bucket.name | quote }}
{{ .variables }}BUCKET_REGION: {{ .bucket.region | quote }}
{{- with .bucket.endpoint }}
{{ $.variables }}BUCKET_ENDPOINT: {{ . | quote }}
{{- end }}
{{- else if eq .type "GoogleCloudStorage" }}
{{ .variables }}KIND: gcs
{{ .variables }}BUCKET_NAME: {{ .bucket.name | quote }}
{{- else if eq .type "CloudFront" }}
{{ .variables }}KIND: cloudfront
{{ .variables }}HOST: {{ .host | quote }}
{{ .variables }}SECUREPROTOCOL: {{ .secureProtocol | toString | quote }}
{{- end }}
{{- if and .pathPrefix (has .type (list "S3" "CloudFront")) }}
{{ .variables }}PATHPREFIX: {{ .pathPrefix | quote }}
{{- end }}
{{- end -}}

{{/*
The source and the additional ones, with all fields. Each entry has the prefix of its variables (variables) and of its
keys in the chart's own Secret (keys), and the suffix of its volume's name (suffix). A YAML document {items: […]}.
*/}}
{{- define "darkroom.sources" -}}
{{- $items := list (mergeOverwrite (deepCopy .Values.source) (dict "variables" "SOURCE_" "keys" "" "suffix" "")) -}}
{{- range $i, $source := .Values.additionalSources -}}
  {{- $n := add1 $i -}}
  {{- $defaults := dict "baseUrl" "" "pathPrefix" "" "host" "" "secureProtocol" true "auth" ""
    "path" "" "stripPath" false "fallback" false
    "bucket" (dict "name" "" "region" "" "endpoint" "")
    "credentials" (dict "accessKey" "" "secretKey" "" "credentialsJson" ""
      "existingSecret" (dict "name" "" "accessKeyKey" "accessKey" "secretKeyKey" "secretKey" "credentialsJsonKey" "credentials.json"))
    "caBundle" (dict "kind" "ConfigMap" "name" "" "key" "ca.crt") -}}
  {{- $items = append $items (mergeOverwrite $defaults (deepCopy $source)
    (dict "variables" (printf "SOURCE_%d_" $n) "keys" (printf "%s." $source.name) "suffix" (printf "-%d" $n))) -}}
{{- end -}}
{{- dict "items" $items | toJson -}}
{{- end -}}

{{/* "k=v;k=v", sorted, so that the same parameters always render the same pods. */}}
{{- define "darkroom.defaultParams" -}}
{{- $params := . -}}
{{- $pairs := list -}}
{{- range $key := keys . | sortAlpha -}}
  {{- $value := get $params $key -}}
  {{- if kindIs "float64" $value -}}
    {{- $value = int64 $value -}}
  {{- end -}}
  {{- $pairs = append $pairs (printf "%s=%v" $key $value) -}}
{{- end -}}
{{- join ";" $pairs -}}
{{- end -}}

{{/*
The credentials of the sources: environment variable, the Secret that contains it (empty: the chart's own), its key
there, and the inline value. A YAML document {items: […]}, because includes return text.
*/}}
{{- define "darkroom.credentials" -}}
{{- $items := list -}}
{{- range (include "darkroom.sources" . | fromJson).items -}}
  {{- $credentials := .credentials -}}
  {{- $existing := $credentials.existingSecret -}}
  {{- $own := list -}}
  {{- if .auth -}}
  {{- else if eq .type "S3" -}}
    {{- $own = list
      (dict "env" "BUCKET_ACCESSKEY" "key" "accessKey" "existingKey" $existing.accessKeyKey "inline" $credentials.accessKey)
      (dict "env" "BUCKET_SECRETKEY" "key" "secretKey" "existingKey" $existing.secretKeyKey "inline" $credentials.secretKey) -}}
  {{- else if and (eq .type "GoogleCloudStorage") (or $existing.name $credentials.credentialsJson) -}}
    {{- $own = list
      (dict "env" "BUCKET_CREDENTIALSJSON" "key" "credentials.json" "existingKey" $existing.credentialsJsonKey "inline" $credentials.credentialsJson) -}}
  {{- end -}}
  {{- $source := . -}}
  {{- range $own -}}
    {{- $key := ternary .existingKey (printf "%s%s" $source.keys .key) (not (empty $existing.name)) -}}
    {{- $items = append $items (dict "env" (printf "%s%s" $source.variables .env) "secret" $existing.name "key" $key "inline" .inline) -}}
  {{- end -}}
{{- end -}}
{{- dict "items" $items | toJson -}}
{{- end -}}

{{/* Data of the Secret with inline credentials; empty without any. */}}
{{- define "darkroom.secretData" -}}
{{- range (include "darkroom.credentials" . | fromJson).items }}
{{- if not .secret }}
{{ .key }}: {{ .inline | b64enc | quote }}
{{- end }}
{{- end -}}
{{- end -}}

{{/*
The container's env. In Kubernetes env takes precedence over envFrom, and users may add
both. Therefore:
  - DEBUG is set here, so that envFrom cannot enable it;
  - extraEnv replaces a credential of the same name, because names are the merge key of
    this list.
*/}}
{{- define "darkroom.env" -}}
{{- $taken := dict -}}
{{- range .Values.extraEnv -}}
  {{- $_ := set $taken .name true -}}
{{- end -}}
- name: DEBUG
  value: "false"
{{- range (include "darkroom.credentials" . | fromJson).items }}
{{- if not (hasKey $taken .env) }}
- name: {{ .env | quote }}
  valueFrom:
    secretKeyRef:
      name: {{ default (include "darkroom.credentialsName" $) .secret | quote }}
      key: {{ .key | quote }}
{{- end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}
