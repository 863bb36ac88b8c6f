{{/*
Refusals that values.schema.json cannot express, or cannot word. Each names the
value and says what to do.
*/}}
{{- define "darkroom.validate" -}}
{{- $seen := dict -}}
{{- range .Values.extraEnv -}}
  {{- if eq .name "DEBUG" -}}
    {{- fail "extraEnv: DEBUG cannot be set, because it opens the profiler on the port that serves pictures; remove it (logLevel: debug makes the log verbose)" -}}
  {{- end -}}
  {{- if hasKey $seen .name -}}
    {{- fail (printf "extraEnv: %s is given twice; keep one of them" .name) -}}
  {{- end -}}
  {{- $_ := set $seen .name true -}}
{{- end -}}
{{- if and .Values.gateway.enabled (not .Values.gateway.parentRefs) -}}
  {{- fail "gateway.parentRefs: name at least one Gateway, for example [{name: public, namespace: gateways}], or set gateway.enabled: false to use an Ingress" -}}
{{- end -}}
{{- if and .Values.gateway.enabled (gt (len .Values.hosts) 16) -}}
  {{- fail (printf "hosts: an HTTPRoute holds at most 16 host names, but %d are given; use fewer, or an Ingress (gateway.enabled: false)" (len .Values.hosts)) -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled (gt (int64 .Values.autoscaling.minReplicas) (int64 .Values.autoscaling.maxReplicas)) -}}
  {{- fail (printf "autoscaling: minReplicas (%d) must not exceed maxReplicas (%d)" (int64 .Values.autoscaling.minReplicas) (int64 .Values.autoscaling.maxReplicas)) -}}
{{- end -}}
{{- if ge (int64 .Values.preStopSleepSeconds) (int64 .Values.terminationGracePeriodSeconds) -}}
  {{- fail (printf "preStopSleepSeconds (%d) must be less than terminationGracePeriodSeconds (%d), or requests in flight are cut off" (int64 .Values.preStopSleepSeconds) (int64 .Values.terminationGracePeriodSeconds)) -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.enabled) -}}
  {{- fail "metrics.serviceMonitor.enabled: there is nothing to scrape; set metrics.enabled: true as well" -}}
{{- end -}}
{{- end -}}
