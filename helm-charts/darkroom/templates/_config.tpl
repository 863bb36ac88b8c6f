{{/*
Darkroom's configuration as environment variables (viper's naming: upper case, "_"
for "."). Only variables that the type of source uses are set; others would roll the
pods without need.
*/}}

{{/* Data of the ConfigMap. Never a credential. */}}
{{- define "darkroom.config" -}}
{{- $source := .Values.source -}}
{{- $breaker := $source.breaker -}}
# Read by releases before v0.2.0; later ones listen on 3000 by default.
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
{{- if eq $source.type "WebFolder" }}
SOURCE_KIND: webfolder
# Darkroom concatenates URL and path without checking for slashes.
SOURCE_BASEURL: {{ $source.baseUrl | trimSuffix "/" | quote }}
{{- else if eq $source.type "S3" }}
SOURCE_KIND: s3
SOURCE_BUCKET_NAME: {{ $source.bucket.name | quote }}
SOURCE_BUCKET_REGION: {{ $source.bucket.region | quote }}
{{- with $source.bucket.endpoint }}
SOURCE_BUCKET_ENDPOINT: {{ . | quote }}
{{- end }}
{{- else if eq $source.type "GoogleCloudStorage" }}
SOURCE_KIND: gcs
SOURCE_BUCKET_NAME: {{ $source.bucket.name | quote }}
{{- else if eq $source.type "CloudFront" }}
SOURCE_KIND: cloudfront
SOURCE_HOST: {{ $source.host | quote }}
SOURCE_SECUREPROTOCOL: {{ $source.secureProtocol | toString | quote }}
{{- end }}
{{- if and $source.pathPrefix (has $source.type (list "S3" "CloudFront")) }}
SOURCE_PATHPREFIX: {{ $source.pathPrefix | quote }}
{{- end }}
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
The credentials of the source: environment variable, key in the chart's own
Secret, key in an existing one, inline value. A YAML document {items: […]}, as
includes return text.
*/}}
{{- define "darkroom.credentials" -}}
{{- $credentials := .Values.source.credentials -}}
{{- $items := list -}}
{{- if .Values.source.auth -}}
{{- else if eq .Values.source.type "S3" -}}
  {{- $items = list
    (dict "env" "SOURCE_BUCKET_ACCESSKEY" "key" "accessKey" "existingKey" $credentials.existingSecret.accessKeyKey "inline" $credentials.accessKey)
    (dict "env" "SOURCE_BUCKET_SECRETKEY" "key" "secretKey" "existingKey" $credentials.existingSecret.secretKeyKey "inline" $credentials.secretKey) -}}
{{- else if and (eq .Values.source.type "GoogleCloudStorage") (or $credentials.existingSecret.name $credentials.credentialsJson) -}}
  {{- $items = list
    (dict "env" "SOURCE_BUCKET_CREDENTIALSJSON" "key" "credentials.json" "existingKey" $credentials.existingSecret.credentialsJsonKey "inline" $credentials.credentialsJson) -}}
{{- end -}}
{{- dict "items" $items | toJson -}}
{{- end -}}

{{/* Data of the Secret with inline credentials; empty without any. */}}
{{- define "darkroom.secretData" -}}
{{- if not .Values.source.credentials.existingSecret.name -}}
{{- range (include "darkroom.credentials" . | fromJson).items }}
{{ .key }}: {{ .inline | b64enc | quote }}
{{- end -}}
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
{{- $existing := .Values.source.credentials.existingSecret.name -}}
{{- $secret := default (include "darkroom.credentialsName" .) $existing -}}
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
      name: {{ $secret | quote }}
      key: {{ ternary .existingKey .key (not (empty $existing)) | quote }}
{{- end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}
