/** The settings of metrics, traces and the log. */
import * as SettingForm from "./SettingForm.ts"
import { optional } from "./SettingForm.ts"

export const MONITORING_SETTINGS = {
  metricsPort: optional(
    {
      env: "CABINET_METRICS_PORT",
      flag: "metrics-port",
      value: "N",
      about:
        "Separate port for /metrics; default: the main port, restricted to this machine on a server of several cabinets",
    },
    SettingForm.wholeNumber(1, 65_535),
  ),
  logLevel: optional(
    {
      env: "LOG_LEVEL",
      flag: "log-level",
      value: "LEVEL",
      about: "debug, info, warn, error or none; default: info for a server, warn for other commands",
    },
    SettingForm.oneOf("debug", "info", "warn", "error", "none"),
  ),
  otlpEndpoint: optional(
    {
      env: "OTEL_EXPORTER_OTLP_ENDPOINT",
      flag: "otlp-endpoint",
      value: "URL",
      about: "OpenTelemetry collector to send traces to (OTLP over HTTP); default: no traces",
    },
    SettingForm.webUrl,
  ),
  logFormat: optional(
    {
      env: "LOG_FORMAT",
      flag: "log-format",
      value: "FORMAT",
      about: "pretty or json; default: pretty on a terminal, json elsewhere",
    },
    SettingForm.oneOf("pretty", "json"),
  ),
} as const
