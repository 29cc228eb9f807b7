{{/* Prefix of the names of all objects. 52 characters leave room for the suffixes below. */}}
{{- define "remit.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Labels that select pods: they never change over the life of a release. Needs a dict of root and component. */}}
{{- define "remit.selectorLabels" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Labels of every object. Needs a dict of root and component. */}}
{{- define "remit.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "remit.selectorLabels" . }}
app.kubernetes.io/version: {{ include "remit.version" .root | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end -}}

{{/* What runs, as a label value: a digest has too many characters for one. */}}
{{- define "remit.version" -}}
{{- if .Values.image.digest -}}
{{- .Values.image.digest | replace ":" "-" | trunc 63 -}}
{{- else -}}
{{- default .Chart.AppVersion .Values.image.tag | trunc 63 | trimAll "-_." -}}
{{- end -}}
{{- end -}}

{{/* The image reference; a digest wins over a tag. */}}
{{- define "remit.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "remit.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "remit.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "remit.migrationServiceAccountName" -}}
{{- if .Values.migrationServiceAccount.create -}}
{{- default (printf "%s-migrate" (include "remit.fullname" .)) .Values.migrationServiceAccount.name -}}
{{- else -}}
{{- default "default" .Values.migrationServiceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "remit.issuersConfigMapName" -}}
{{- default (printf "%s-issuers" (include "remit.fullname" .)) .Values.issuers.existingConfigMap -}}
{{- end -}}

{{/* Pod-level part of the restricted Pod Security Standard. */}}
{{- define "remit.podSecurityContext" -}}
runAsNonRoot: true
{{- with .Values.securityContext }}
{{- if not (kindIs "invalid" .runAsUser) }}
runAsUser: {{ int64 .runAsUser }}
{{- end }}
{{- if not (kindIs "invalid" .runAsGroup) }}
runAsGroup: {{ int64 .runAsGroup }}
{{- end }}
{{- if not (kindIs "invalid" .fsGroup) }}
fsGroup: {{ int64 .fsGroup }}
fsGroupChangePolicy: OnRootMismatch
{{- end }}
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/* Container-level part of it, and a root file system nobody writes to. */}}
{{- define "remit.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop:
    - ALL
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/* One environment variable from a Secret. Needs a dict of name, secret and key. */}}
{{- define "remit.secretEnv" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret | quote }}
      key: {{ .key | quote }}
{{- end -}}

{{/* The databases' certificate authority, for the server and the migration alike. */}}
{{- define "remit.databaseCaMount" -}}
- name: database-ca
  mountPath: /etc/remit/database-ca
  readOnly: true
{{- end -}}

{{- define "remit.databaseCaVolume" -}}
- name: database-ca
  configMap:
    name: {{ .Values.databaseCa.existingConfigMap | quote }}
    items:
      - key: {{ .Values.databaseCa.key | quote }}
        path: ca.crt
{{- end -}}

{{/* One gRPC probe against the health listener. Needs a dict of port and times. */}}
{{- define "remit.grpcProbe" -}}
grpc:
  port: {{ int .port }}
  service: ""
periodSeconds: {{ int .times.periodSeconds }}
failureThreshold: {{ int .times.failureThreshold }}
timeoutSeconds: {{ int .times.timeoutSeconds }}
{{- end -}}

{{/* Combinations that the schema of the values cannot say with a message a reader understands. */}}
{{- define "remit.validate" -}}
{{- if and (not .Values.tls.enabled) (not .Values.tls.allowInsecureListen) -}}
{{- fail "tls.enabled is false: the server does not listen in plaintext unless tls.allowInsecureListen is true" -}}
{{- end -}}
{{- if and .Values.tls.enabled .Values.tls.allowInsecureListen -}}
{{- fail "tls.allowInsecureListen has no meaning with tls.enabled: set one of them" -}}
{{- end -}}
{{- if and .Values.service.headless (ne .Values.service.type "ClusterIP") -}}
{{- fail "service.headless needs service.type ClusterIP" -}}
{{- end -}}
{{- $ports := list (int .Values.server.port) (int .Values.server.healthPort) (int .Values.metrics.port) -}}
{{- if ne (len $ports) (len (uniq $ports)) -}}
{{- fail "server.port, server.healthPort and metrics.port must differ" -}}
{{- end -}}
{{- if le (int .Values.terminationGracePeriodSeconds) (add (int .Values.preStopSleepSeconds) (int .Values.server.drainSeconds) | int) -}}
{{- fail "terminationGracePeriodSeconds must exceed preStopSleepSeconds and server.drainSeconds together: the drain would be cut off" -}}
{{- end -}}
{{- if lt (mul (int .Values.probes.startup.periodSeconds) (int .Values.probes.startup.failureThreshold) | int) (int .Values.server.startupWaitSeconds) -}}
{{- fail "probes.startup must allow for server.startupWaitSeconds (periodSeconds times failureThreshold)" -}}
{{- end -}}
{{- if .Values.migrations.enabled -}}
{{- range $name, $server := dict "database" .Values.database "keystore" .Values.keystore -}}
{{- $ddl := index $.Values.migrations $name -}}
{{- if and (eq $server.existingSecret $ddl.existingSecret) (eq $server.urlKey $ddl.urlKey) -}}
{{- fail (printf "%s and migrations.%s name the same key of the same Secret: the server must not hold the DDL role" $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
