{{/*
The gate: a container beside Darkroom. It gets the ConfigMap, the credentials and the variables that Darkroom has
without a gate, because it reads the source. Darkroom reads from the gate's internal face on loopback.
*/}}

{{/* Variables of the gate in the ConfigMap, after the variables of the source. */}}
{{- define "darkroom.gateConfig" -}}
{{- with .Values.gate }}
GATE_MAX_WIDTH: {{ .limits.maxWidth | int64 | quote }}
GATE_MAX_HEIGHT: {{ .limits.maxHeight | int64 | quote }}
GATE_MAX_SOURCE_PIXELS: {{ .limits.maxSourcePixels | int64 | quote }}
GATE_MAX_SOURCE_BYTES: {{ .limits.maxSourceBytes | int64 | quote }}
{{- with .limits.parameters }}
GATE_PARAMETERS: {{ join "," . | quote }}
{{- end }}
{{- with .presets }}
GATE_PRESETS: {{ toJson . | quote }}
{{- end }}
{{- if .signing.secret.name }}
GATE_SIGNING_KEYS_FILE: /signing/keys
GATE_SIGNING_MODE: {{ .signing.mode | quote }}
GATE_SIGNING_SCHEME: {{ .signing.scheme | quote }}
{{- with $.Values.probe.path }}
# The request that darkroom.imageProbe and the operator send.
GATE_PUBLIC_REQUEST: {{ printf "%s?w=16" . | quote }}
{{- end }}
{{- end }}
GATE_ONLY_PRESETS: {{ .onlyPresets | toString | quote }}
{{- with .cache.diskBytes | int64 }}
GATE_CACHE_FOLDER: /cache
GATE_CACHE_DISK_BYTES: {{ . | quote }}
{{- end }}
{{- if $.Values.source.caBundle.name }}
GATE_SOURCE_CA_FILE: /source-ca/ca.crt
{{- end }}
{{- if include "darkroom.identityOf" $.Values.source }}
GATE_WORKLOAD_IDENTITY: "true"
{{- end }}
{{- include "darkroom.additionalConfig" $ }}
GATE_REVALIDATE_SECONDS: {{ .cache.revalidateSeconds | int64 | quote }}
GATE_STALE_IF_ERROR_SECONDS: {{ .cache.staleIfErrorSeconds | int64 | quote }}
GATE_RESIZER: {{ .resizer | quote }}
GATE_SERVER_TIMING: {{ .serverTiming | toString | quote }}
GATE_ACCESS_LOG: {{ .accessLog | toString | quote }}
{{- end }}
{{- end -}}

{{/* Variables of additional sources. */}}
{{- define "darkroom.additionalConfig" -}}
{{- $names := list }}
{{- range rest (include "darkroom.sources" . | fromJson).items }}
{{- $names = append $names .name }}
{{- include "darkroom.sourceConfig" . }}
{{- if .path }}
GATE_{{ .variables }}PATH: {{ .path | quote }}
{{- end }}
{{- if .stripPath }}
GATE_{{ .variables }}STRIP_PATH: "true"
{{- end }}
{{- if .fallback }}
GATE_{{ .variables }}FALLBACK: "true"
{{- end }}
{{- if .caBundle.name }}
GATE_{{ .variables }}CA_FILE: /source-ca{{ .suffix }}/ca.crt
{{- end }}
{{- if include "darkroom.identityOf" . }}
GATE_{{ .variables }}WORKLOAD_IDENTITY: "true"
{{- end }}
{{- end }}
{{- with $names }}
GATE_ADDITIONAL_SOURCES: {{ join "," . | quote }}
{{- end }}
{{- end -}}

{{/* Darkroom's environment variables if there is a gate. It contains no credentials and no proxy. */}}
{{- define "darkroom.innerEnv" -}}
- name: DEBUG
  value: "false"
- name: LOG_LEVEL
  value: {{ .Values.logLevel | quote }}
# Most of the memory is used by decoded images. Collecting garbage earlier leaves more memory for them.
- name: GOGC
  value: "50"
- name: SOURCE_KIND
  value: webfolder
- name: SOURCE_BASEURL
  value: http://127.0.0.1:3002
# The gate limits the requests, and no request fails because of the source.
- name: SOURCE_HYSTRIX_MAXCONCURRENTREQUESTS
  value: "1000"
- name: SOURCE_HYSTRIX_TIMEOUT
  value: "30000"
{{ include "darkroom.memoryLimit" "darkroom" }}
{{- end -}}

{{/* The memory limit of a container as a variable of the gate. */}}
{{- define "darkroom.memoryLimit" -}}
- name: {{ ternary "GATE_MEMORY_LIMIT" "GATE_DARKROOM_MEMORY_LIMIT" (eq . "gate") }}
  valueFrom:
    resourceFieldRef:
      containerName: {{ . }}
      resource: limits.memory
      divisor: "1"
{{- end -}}

{{/* The program of the gate also supervises Darkroom, because Darkroom's image does not contain it. */}}
{{- define "darkroom.gateInstaller" -}}
- name: gate-install
  image: {{ include "darkroom.gateImage" . | quote }}
  imagePullPolicy: {{ .Values.gate.image.pullPolicy }}
  args: ["install", "/gate-install/gate"]
  {{- with .Values.gate.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.securityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  volumeMounts:
    - name: gate
      mountPath: /gate-install
{{- end -}}

{{- define "darkroom.gateImage" -}}
{{- with .Values.gate.image -}}
{{- ternary (printf "%s@%s" .repository .digest) (printf "%s:%s" .repository .tag) (not (empty .digest)) -}}
{{- end -}}
{{- end -}}

{{- define "darkroom.gateContainer" -}}
- name: gate
  image: {{ include "darkroom.gateImage" . | quote }}
  imagePullPolicy: {{ .Values.gate.image.pullPolicy }}
  ports:
    - name: http
      containerPort: 3000
      protocol: TCP
    - name: metrics
      containerPort: 3003
      protocol: TCP
  envFrom:
    - configMapRef:
        name: {{ include "darkroom.configName" . | quote }}
    {{- with .Values.extraEnvFrom }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  env:
    {{- include "darkroom.env" . | nindent 4 }}
    {{- $extra := dict }}
    {{- range .Values.extraEnv }}{{ $_ := set $extra .name true }}{{ end }}
    {{- /* Names are the merge key of this list. */}}
    {{- if not (hasKey $extra "GATE_MEMORY_LIMIT") }}
    {{- include "darkroom.memoryLimit" "gate" | nindent 4 }}
    {{- end }}
    {{- if not (hasKey $extra "GATE_DARKROOM_MEMORY_LIMIT") }}
    {{- include "darkroom.memoryLimit" "darkroom" | nindent 4 }}
    {{- end }}
  {{- if .Values.probe.path }}
  # The probe goes through the gate and Darkroom: new pods serve the image before they receive requests.
  startupProbe:
    {{- include "darkroom.imageProbe" .Values.probe | nindent 4 }}
  {{- else if .Values.startupProbe }}
  # The gate is ready once Darkroom has responded.
  startupProbe:
    {{- include "darkroom.healthProbe" (list "/readyz" "metrics" .Values.startupProbe) | nindent 4 }}
  {{- end }}
  {{- with .Values.readinessProbe }}
  readinessProbe:
    {{- include "darkroom.healthProbe" (list "/readyz" "metrics" .) | nindent 4 }}
  {{- end }}
  {{- with .Values.livenessProbe }}
  livenessProbe:
    {{- include "darkroom.healthProbe" (list "/healthz" "metrics" .) | nindent 4 }}
  {{- end }}
  {{- with .Values.preStopSleepSeconds | int64 }}
  lifecycle:
    preStop:
      sleep:
        seconds: {{ . }}
  {{- end }}
  {{- with .Values.gate.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.securityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- $bundles := include "darkroom.caBundles" . | fromJson }}
  {{- if or .Values.gate.cache.diskBytes $bundles.items .Values.gate.signing.secret.name .Values.extraVolumeMounts }}
  volumeMounts:
    {{- if .Values.gate.signing.secret.name }}
    - name: gate-signing
      mountPath: /signing
      readOnly: true
    {{- end }}
    {{- range $bundles.items }}
    - name: source-ca{{ .suffix }}
      mountPath: /source-ca{{ .suffix }}
      readOnly: true
    {{- end }}
    {{- if .Values.gate.cache.diskBytes }}
    - name: gate-cache
      mountPath: /cache
    {{- end }}
    {{- with .Values.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
{{- end -}}

{{/* The sources in darkroom.sources that have certificates of private authorities. */}}
{{- define "darkroom.caBundles" -}}
{{- $items := list -}}
{{- range (include "darkroom.sources" . | fromJson).items -}}
  {{- if .caBundle.name -}}{{- $items = append $items . -}}{{- end -}}
{{- end -}}
{{- dict "items" $items | toJson -}}
{{- end -}}

{{/* The volume with the certificates of private authorities of a source. */}}
{{- define "darkroom.sourceCAVolume" -}}
- name: source-ca{{ .suffix }}
  {{- if eq .caBundle.kind "Secret" }}
  secret:
    secretName: {{ .caBundle.name | quote }}
  {{- else }}
  configMap:
    name: {{ .caBundle.name | quote }}
  {{- end }}
    items:
      - key: {{ .caBundle.key | quote }}
        path: ca.crt
{{- end -}}

{{/* A probe of a path and port: list of path, port and timing. */}}
{{- define "darkroom.healthProbe" -}}
httpGet:
  path: {{ index . 0 }}
  port: {{ index . 1 }}
{{ toYaml (index . 2) }}
{{- end -}}

{{/* The type of a source whose bucket the gate reads with the identity of the pods' ServiceAccount; otherwise empty. */}}
{{- define "darkroom.identityOf" -}}
{{- if and .auth (has .type (list "S3" "GoogleCloudStorage")) }}{{ .type }}{{ end -}}
{{- end -}}

{{/* The type of the sources with an identity; darkroom.validate allows only one. Empty if there are none. */}}
{{- define "darkroom.workloadIdentity" -}}
{{- $type := "" -}}
{{- range (include "darkroom.sources" . | fromJson).items -}}
  {{- $type = default $type (include "darkroom.identityOf" .) -}}
{{- end -}}
{{- $type -}}
{{- end -}}

{{/* Annotations of the pods. On EKS, only the container of the gate receives the identity. */}}
{{- define "darkroom.podAnnotations" -}}
{{- $annotations := dict -}}
{{- if eq (include "darkroom.workloadIdentity" .) "S3" -}}
  {{- $annotations = dict "eks.amazonaws.com/skip-containers" "darkroom,gate-install" -}}
{{- end -}}
{{- if .Values.gate.enabled -}}
  {{- /* The volumes contain nothing that other pods need, and must not prevent a node from being scaled down. */}}
  {{- $volumes := list "gate" -}}
  {{- if .Values.gate.cache.diskBytes | int64 }}{{ $volumes = append $volumes "gate-cache" }}{{ end -}}
  {{- $_ := set $annotations "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes" (join "," $volumes) -}}
{{- end -}}
{{- with mergeOverwrite $annotations (.Values.podAnnotations | default dict) }}{{ toYaml . }}{{ end -}}
{{- end -}}
