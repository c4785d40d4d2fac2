/** Every setting of a cabinet in one table: its sources, its form, and its text in `--help`. */
import { COLD_SETTINGS } from "./ColdSettings.ts"
import { DATABASE_SETTINGS } from "./DatabaseSettings.ts"
import * as SettingForm from "./SettingForm.ts"
import { MONITORING_SETTINGS } from "./MonitoringSettings.ts"
import { SIGN_IN_SETTINGS } from "./SignInSettings.ts"
import { optional, setting, type Setting } from "./SettingForm.ts"

export const SETTINGS = {
  port: setting(
    { env: "PORT", flag: "port", value: "N", about: "Port to listen on; 0 for any free port" },
    SettingForm.wholeNumber(0, 65_535),
    "8080",
  ),
  host: setting(
    { env: "HOST", flag: "host", value: "ADDRESS", about: "IP address to listen on; 0.0.0.0 for all" },
    SettingForm.text,
    "127.0.0.1",
  ),
  baseUrl: optional(
    {
      env: "BASE_URL",
      flag: "base-url",
      value: "URL",
      about: "Public base URL of this cabinet; default: the address it listens on",
    },
    SettingForm.webUrl,
  ),
  ...DATABASE_SETTINGS,
  serviceDomain: optional(
    {
      env: "CABINET_SERVICE_DOMAIN",
      flag: "service-domain",
      value: "DOMAIN",
      about: "Serve several cabinets, each at its name below this domain; default: one cabinet under any host name",
    },
    SettingForm.domain,
  ),
  timeZone: setting(
    {
      env: "CABINET_TIME_ZONE",
      flag: "time-zone",
      value: "NAME",
      about: "Time zone of the days in a period, such as Europe/Berlin",
    },
    SettingForm.timeZone,
    "UTC",
  ),
  docsUrl: optional(
    {
      env: "CABINET_DOCS_URL",
      flag: "docs-url",
      value: "URL",
      about: "Where /api/v1/docs redirects to; default: the bundled reference page",
    },
    SettingForm.webUrl,
  ),
  apiOrigins: setting(
    {
      env: "CABINET_API_ORIGINS",
      flag: "api-origins",
      value: "ORIGINS",
      about: "Origins whose pages may use the APIs with a key or a token, such as https://app.example.com",
    },
    SettingForm.origins,
    "",
  ),
  trustedProxies: setting(
    {
      env: "CABINET_TRUSTED_PROXIES",
      flag: "trusted-proxies",
      value: "NETWORKS",
      about: "Proxies whose X-Forwarded-For is trusted",
    },
    SettingForm.proxies,
    "",
  ),
  secretKey: setting(
    {
      env: "CABINET_SECRET_KEY",
      flag: "secret-key",
      value: "KEYS",
      about: "Keys that encrypt the secrets in the database; default: not encrypted",
      secret: true,
    },
    SettingForm.secretKeys,
    "none",
  ),
  allowedNetworks: setting(
    {
      env: "CABINET_ALLOWED_NETWORKS",
      flag: "allowed-networks",
      value: "NETWORKS",
      about: "Private networks that deliveries and polls may reach",
    },
    SettingForm.networks,
    "",
  ),
  destinationRoot: optional(
    {
      env: "CABINET_DESTINATION_ROOT",
      flag: "destination-root",
      value: "DIR",
      about: "Directory below which destinations write events; default: destinations in directories are off",
    },
    SettingForm.text,
  ),
  ...COLD_SETTINGS,
  apiRate: setting(
    { env: "CABINET_API_RATE", flag: "api-rate", value: "N", about: "API requests per minute for each key" },
    SettingForm.wholeNumber(1, 1_000_000),
    "120",
  ),
  intakeRate: setting(
    {
      env: "CABINET_INTAKE_RATE",
      flag: "intake-rate",
      value: "N",
      about: "Intake requests per minute for each source and for each client address; 0 for no limit",
    },
    SettingForm.wholeNumber(0, 10_000_000),
    "60",
  ),
  intakeMaxBytes: setting(
    {
      env: "CABINET_INTAKE_MAX_BYTES",
      flag: "intake-max-bytes",
      value: "N",
      about: "Maximum size of an intake request body",
    },
    SettingForm.wholeNumber(1024, 67_108_864),
    "1048576",
  ),
  statementTimeout: setting(
    {
      env: "CABINET_STATEMENT_TIMEOUT",
      flag: "statement-timeout",
      value: "TIME",
      about: "Time limit for a read query",
    },
    SettingForm.duration,
    "8s",
  ),
  lockTimeout: setting(
    {
      env: "CABINET_LOCK_TIMEOUT",
      flag: "lock-timeout",
      value: "TIME",
      about: "Time limit for a read query to wait for a lock",
    },
    SettingForm.duration,
    "2s",
  ),
  reading: setting(
    { env: "CABINET_READING", flag: "reading", value: "on|off", about: "Whether rows can be read through the API" },
    SettingForm.oneOf("on", "off"),
    "on",
  ),
  retentionDays: setting(
    {
      env: "CABINET_RETENTION_DAYS",
      flag: "retention-days",
      value: "N",
      about: "Days to keep original requests; events and rows are kept",
    },
    SettingForm.wholeNumber(1, 36_500),
    "90",
  ),
  logDays: setting(
    {
      env: "CABINET_LOG_DAYS",
      flag: "log-days",
      value: "N",
      about: "Days to keep successful delivery attempts and poll runs in their logs",
    },
    SettingForm.wholeNumber(1, 3650),
    "30",
  ),
  failedLogDays: setting(
    {
      env: "CABINET_FAILED_LOG_DAYS",
      flag: "failed-log-days",
      value: "N",
      about: "Days to keep failed delivery attempts and poll runs; at least as long as successful ones",
    },
    SettingForm.wholeNumber(1, 3650),
    "90",
  ),
  auditDays: setting(
    { env: "CABINET_AUDIT_DAYS", flag: "audit-days", value: "N", about: "Days to keep the audit log" },
    SettingForm.wholeNumber(1, 3650),
    "400",
  ),
  console: setting(
    { env: "CABINET_CONSOLE", flag: "console", value: "on|off", about: "Whether the console's screens are served" },
    SettingForm.oneOf("on", "off"),
    "on",
  ),
  ...SIGN_IN_SETTINGS,
  drainTime: setting(
    {
      env: "CABINET_DRAIN_TIME",
      flag: "drain-time",
      value: "TIME",
      about:
        "How long a server keeps accepting requests after SIGTERM while /readyz reports that it is stopping; Ctrl-C does not wait",
    },
    SettingForm.pause,
    "3s",
  ),
  workers: setting(
    {
      env: "CABINET_WORKERS",
      flag: "workers",
      value: "N",
      about: "Number of processes that share the port, for machines with several cores",
    },
    SettingForm.wholeNumber(1, 64),
    "1",
  ),
  ...MONITORING_SETTINGS,
} as const

export type SettingName = keyof typeof SETTINGS

/** The settings that come from the environment alone. */
export const secretSettings = (Object.keys(SETTINGS) as ReadonlyArray<SettingName>).filter(
  (name) => (SETTINGS[name] as Setting<unknown>).secret === true,
)

type ValueOf<S> = S extends Setting<infer A> ? A : never

export type Settings = { readonly [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> }
