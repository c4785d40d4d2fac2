{{/* What every object of a release is named after. */}}
{{- define "data-cabinet.name" -}}
{{- $name := ternary .Release.Name (printf "%s-data-cabinet" .Release.Name) (contains "data-cabinet" .Release.Name) -}}
{{- $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* The labels of an object; "component" is serve or worker. */}}
{{- define "data-cabinet.selector" -}}
app.kubernetes.io/name: data-cabinet
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "data-cabinet.labels" -}}
{{- if .component }}
{{- include "data-cabinet.selector" . }}
{{- else -}}
app.kubernetes.io/name: data-cabinet
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "data-cabinet.secret" -}}
{{- .Values.existingSecret | default (include "data-cabinet.name" .) -}}
{{- end -}}

{{- define "data-cabinet.hasSecret" -}}
{{- if or .Values.existingSecret .Values.secret }}true{{ end -}}
{{- end -}}

{{- define "data-cabinet.cluster" -}}
{{- printf "%s-postgres" (include "data-cabinet.name" .) -}}
{{- end -}}

{{/* What would not start is not installed. */}}
{{- define "data-cabinet.check" -}}
{{- $_ := required "baseUrl is required: the address at which senders reach the cabinet, such as https://data.example.com" .Values.baseUrl -}}
{{- if and .Values.existingSecret .Values.secret -}}
{{- fail "Set either existingSecret or secret, not both." -}}
{{- end -}}
{{- if and (eq .Values.database.kind "external") (not (include "data-cabinet.hasSecret" .)) -}}
{{- fail "An external database needs existingSecret, a secret with DATABASE_URL; or set database.kind=cloudnativepg." -}}
{{- end -}}
{{- if and .Values.secret (eq .Values.database.kind "external") (not (hasKey .Values.secret "DATABASE_URL")) -}}
{{- fail "secret has no DATABASE_URL." -}}
{{- end -}}
{{- end -}}

{{/* The pods of servers and workers: they differ in their arguments, ports and probes. */}}
{{- define "data-cabinet.pod" -}}
{{- $root := .root -}}
{{- $of := index $root.Values .component -}}
metadata:
  labels:
    {{- include "data-cabinet.labels" . | nindent 4 }}
  {{- if $root.Values.secret }}
  annotations:
    # A changed secret restarts the pods.
    checksum/secret: {{ $root.Values.secret | toJson | sha256sum }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  # The server waits until it gets no new requests, and ends those that are under way.
  terminationGracePeriodSeconds: 60
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    seccompProfile: { type: RuntimeDefault }
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "data-cabinet.selector" . | nindent 10 }}
  {{- with $of.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $of.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .component }}
      image: {{ printf "%s:%s" $root.Values.image.repository ($root.Values.image.tag | default $root.Chart.AppVersion) | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: {{ .args | toJson }}
      {{- if include "data-cabinet.hasSecret" $root }}
      envFrom:
        - secretRef: { name: {{ include "data-cabinet.secret" $root }} }
      {{- end }}
      env:
        - { name: BASE_URL, value: {{ $root.Values.baseUrl | quote }} }
        {{- if eq $root.Values.database.kind "cloudnativepg" }}
        {{- $cluster := include "data-cabinet.cluster" $root }}
        - name: DATABASE_LOGIN
          valueFrom: { secretKeyRef: { name: {{ $cluster }}-app, key: username } }
        - name: DATABASE_PASSWORD
          valueFrom: { secretKeyRef: { name: {{ $cluster }}-app, key: password } }
        - name: DATABASE_URL
          value: "postgres://$(DATABASE_LOGIN):$(DATABASE_PASSWORD)@{{ $cluster }}-rw:5432/cabinet?sslmode=verify-full"
        - name: DATABASE_CA
          valueFrom: { secretKeyRef: { name: {{ $cluster }}-ca, key: ca.crt } }
        {{- end }}
        {{- if eq .component "serve" }}
        {{- with $root.Values.trustedProxies }}
        - { name: CABINET_TRUSTED_PROXIES, value: {{ . | quote }} }
        {{- end }}
        - { name: CABINET_METRICS_PORT, value: {{ $root.Values.metrics.port | quote }} }
        {{- end }}
        {{- with $root.Values.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- if eq .component "serve" }}
      ports:
        - { name: http, containerPort: 8080 }
        - { name: metrics, containerPort: {{ $root.Values.metrics.port }} }
      # A first start migrates the database, and waits for it up to a minute.
      startupProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 60
      # The process; a database that is away does not end it.
      livenessProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
      readinessProbe:
        httpGet: { path: /readyz, port: http }
        periodSeconds: 5
        timeoutSeconds: 6
      {{- end }}
      resources:
        {{- toYaml $of.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: scratch, mountPath: /tmp }
        - { name: scratch, mountPath: /data }
  volumes:
    - name: scratch
      emptyDir: { sizeLimit: {{ $of.scratch }} }
{{- end -}}
