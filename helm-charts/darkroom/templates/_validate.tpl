{{/*
Validation that values.schema.json cannot express, or for which it has no helpful message. Each message names the value
and the remedy.
*/}}
{{- define "darkroom.validate" -}}
{{- $seen := dict -}}
{{- range .Values.extraEnv -}}
  {{- if eq .name "DEBUG" -}}
    {{- fail "extraEnv: DEBUG cannot be set, because it exposes the profiler on the port that serves images; remove it (for verbose logs, set logLevel: debug)" -}}
  {{- end -}}
  {{- if hasKey $seen .name -}}
    {{- fail (printf "extraEnv: duplicate name %s; remove one of the entries" .name) -}}
  {{- end -}}
  {{- $_ := set $seen .name true -}}
{{- end -}}
{{- if and .Values.gateway.enabled (not .Values.gateway.parentRefs) -}}
  {{- fail "gateway.parentRefs: at least one Gateway is required, for example [{name: public, namespace: gateways}]; to use an Ingress, set gateway.enabled: false" -}}
{{- end -}}
{{- if and .Values.gateway.enabled (gt (len (.Values.hosts | default list)) 16) -}}
  {{- fail (printf "hosts: an HTTPRoute supports at most 16 hosts, got %d; remove some, or use an Ingress (gateway.enabled: false)" (len .Values.hosts)) -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled (gt (int64 .Values.autoscaling.minReplicas) (int64 .Values.autoscaling.maxReplicas)) -}}
  {{- fail (printf "autoscaling: minReplicas (%d) must not exceed maxReplicas (%d)" (int64 .Values.autoscaling.minReplicas) (int64 .Values.autoscaling.maxReplicas)) -}}
{{- end -}}
{{- if ge (int64 .Values.preStopSleepSeconds) (int64 .Values.terminationGracePeriodSeconds) -}}
  {{- fail (printf "preStopSleepSeconds (%d) must be less than terminationGracePeriodSeconds (%d), or active requests are interrupted" (int64 .Values.preStopSleepSeconds) (int64 .Values.terminationGracePeriodSeconds)) -}}
{{- end -}}
{{- if and .Values.gate.enabled (ge (add (int64 .Values.preStopSleepSeconds) 15) (int64 .Values.terminationGracePeriodSeconds)) -}}
  {{- fail (printf "gate.enabled: terminationGracePeriodSeconds (%d) must exceed preStopSleepSeconds (%d) by more than 15 seconds, in which the gate drains" (int64 .Values.terminationGracePeriodSeconds) (int64 .Values.preStopSleepSeconds)) -}}
{{- end -}}
{{- if and .Values.gate.enabled (not (or .Values.gate.image.tag .Values.gate.image.digest)) -}}
  {{- fail "gate.image.tag: a tag or a digest is required" -}}
{{- end -}}
{{- if and .Values.source.caBundle.name (not .Values.gate.enabled) -}}
  {{- fail "source.caBundle.name: requires gate.enabled: true, because Darkroom itself is not given the certificates" -}}
{{- end -}}
{{- if and .Values.additionalSources (not .Values.gate.enabled) -}}
  {{- fail "additionalSources: requires gate.enabled: true, because Darkroom itself reads one source" -}}
{{- end -}}
{{- if and .Values.gate.enabled .Values.gate.onlyPresets (not .Values.gate.presets) -}}
  {{- fail "gate.onlyPresets: requires gate.presets, or every request with parameters is refused" -}}
{{- end -}}
{{- if and .Values.gate.enabled .Values.probe.path .Values.gate.onlyPresets -}}
  {{- fail "gate.onlyPresets: cannot be combined with probe.path, which requests w=16; remove one of them" -}}
{{- end -}}
{{- if and .Values.gate.enabled .Values.probe.path .Values.gate.limits.parameters (not (has "w" .Values.gate.limits.parameters)) -}}
  {{- fail "gate.limits.parameters: must have w, because probe.path requests w=16; add it, or remove probe.path" -}}
{{- end -}}
{{- if .Values.gate.enabled -}}
  {{- /* The gate does not start if no request could have the parameters. */}}
  {{- $parameters := list -}}
  {{- range $name, $value := .Values.defaultParams -}}
    {{- $parameters = append $parameters (dict "at" "defaultParams" "name" $name "value" (toString $value)) -}}
  {{- end -}}
  {{- range $preset, $query := .Values.gate.presets -}}
    {{- range splitList "&" $query -}}
      {{- $pair := splitList "=" . -}}
      {{- $parameters = append $parameters (dict "at" (printf "gate.presets.%s" $preset) "name" (first $pair) "value" (last $pair)) -}}
    {{- end -}}
  {{- end -}}
  {{- $most := dict "w" (int64 .Values.gate.limits.maxWidth) "h" (int64 .Values.gate.limits.maxHeight) -}}
  {{- $known := list "auto" "blur" "crop" "dpr" "fit" "flip" "h" "mono" "q" "rot" "w" -}}
  {{- $valid := "^((w|h)=[1-9][0-9]{0,3}|q=([1-9][0-9]?|100)|fit=(clip|crop|max|min|scale)|crop=((top|bottom)(,left|,right)?|left|right)|mono=000000|blur=([0-9]{1,2}([.][0-9]*)?|100([.]0*)?)|dpr=([1-4]([.][0-9]*)?|5([.]0*)?)|rot=(([12]?[0-9]{1,2}|3[0-5][0-9])([.][0-9]*)?|360([.]0*)?)|flip=([hH][vV]?|[vV][hH]?)|auto=(compress|format)(,compress|,format)*)$" -}}
  {{- range $parameters -}}
    {{- if and (has .name $known) (not (regexMatch $valid (printf "%s=%s" .name .value))) -}}
      {{- fail (printf "%s: %s cannot be %q; see the parameters of Darkroom, or remove it" .at .name .value) -}}
    {{- end -}}
    {{- if and (hasKey $most .name) (gt (int64 .value) (get $most .name)) -}}
      {{- fail (printf "%s: %s=%s exceeds the limit of %d in gate.limits" .at .name .value (get $most .name)) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- $field := "source" -}}
{{- $identity := dict -}}
{{- $names := dict -}}
{{- $paths := dict "" $field -}}
{{- range $i, $source := (include "darkroom.sources" . | fromJson).items -}}
  {{- if $i -}}
    {{- $field = printf "additionalSources[%d]" (sub $i 1) -}}
    {{- if hasKey $names .name -}}
      {{- fail (printf "%s.name: %s is the name of another source too; each needs its own" $field .name) -}}
    {{- end -}}
    {{- if and .stripPath (not .path) -}}
      {{- fail (printf "%s.stripPath: requires path" $field) -}}
    {{- end -}}
    {{- if and (not .fallback) (hasKey $paths .path) -}}
      {{- fail (printf "%s.path: %q is the path of %s too; set another path, or fallback: true" $field .path (get $paths .path)) -}}
    {{- end -}}
    {{- $_ := set $names .name true -}}
    {{- if not .fallback -}}{{- $_ := set $paths .path $field -}}{{- end -}}
  {{- end -}}
  {{- /* values.schema.json sees the fields of an additional source without their defaults. */}}
  {{- $place := dict "WebFolder" .baseUrl "CloudFront" .host "S3" (and .bucket.name .bucket.region) "GoogleCloudStorage" .bucket.name -}}
  {{- if not (get $place .type) -}}
    {{- fail (printf "%s: a source of type %s needs %s" $field .type (get (dict "WebFolder" "baseUrl" "CloudFront" "host" "S3" "bucket.name and bucket.region" "GoogleCloudStorage" "bucket.name") .type)) -}}
  {{- end -}}
  {{- if and (eq .type "S3") (not .auth) (not .credentials.existingSecret.name) (not (and .credentials.accessKey .credentials.secretKey)) -}}
    {{- fail (printf "%s.credentials: a source of type S3 needs existingSecret.name, or both accessKey and secretKey" $field) -}}
  {{- end -}}
  {{- if and .auth (not $.Values.gate.enabled) -}}
    {{- fail (printf "%s.auth: requires gate.enabled: true, because Darkroom itself has no identity" $field) -}}
  {{- end -}}
  {{- if and .auth (or .credentials.existingSecret.name .credentials.accessKey .credentials.secretKey .credentials.credentialsJson) -}}
    {{- fail (printf "%s.auth: replaces %s.credentials; remove one of them" $field $field) -}}
  {{- end -}}
  {{- with include "darkroom.identityOf" . -}}
    {{- if and $identity.type (ne $identity.type .) -}}
      {{- fail (printf "%s.auth and %s.auth: the pods have one workload identity, for %s or for %s; use credentials for one of them" $identity.field $field $identity.type .) -}}
    {{- end -}}
    {{- $identity = dict "type" . "field" $field -}}
  {{- end -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.enabled) -}}
  {{- fail "metrics.serviceMonitor.enabled: requires metrics.enabled: true" -}}
{{- end -}}
{{- end -}}
