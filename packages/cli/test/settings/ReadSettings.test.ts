import { readSettings } from "data-cabinet/settings/ReadSettings"
import { SETTINGS, type SettingName } from "data-cabinet/settings/Settings"
import { Effect, Result } from "effect"
import { expect, it } from "vitest"

const read = (given: Partial<Record<SettingName, string>>, env: Record<string, string> = {}) =>
  Effect.runSync(Effect.result(readSettings({ given, env })))

const refusal = (given: Partial<Record<SettingName, string>>, env: Record<string, string> = {}): string => {
  const result = read(given, env)
  return Result.isFailure(result) ? result.failure.message : "taken"
}

it("readSettings returns the defaults when nothing is set", () => {
  expect(Result.getOrThrow(read({}))).toMatchObject({
    port: 8080,
    host: "127.0.0.1",
    baseUrl: null,
    databaseUrl: null,
    dataDir: ".cabinet",
    timeZone: "UTC",
    apiRate: 120,
    intakeRate: 60,
    intakeMaxBytes: 1_048_576,
    reading: "on",
    allowedNetworks: [],
  })
})

it("readSettings prefers a flag to the environment, and the environment to the default", () => {
  expect(Result.getOrThrow(read({}, { PORT: "9000" })).port).toBe(9000)
  expect(Result.getOrThrow(read({ port: "9001" }, { PORT: "9000" })).port).toBe(9001)
  expect(Result.getOrThrow(read({}, { PORT: "" })).port).toBe(8080)
})

it("readSettings parses every form of value", () => {
  const settings = Result.getOrThrow(
    read({
      baseUrl: "https://cabinet.example.com/data/",
      statementTimeout: "2min",
      lockTimeout: "500ms",
      timeZone: "Europe/Berlin",
      trustedProxies: "10.0.0.0/8, 192.0.2.1",
      allowedNetworks: "fd00::/8",
      apiOrigins: "https://App.example.com:443/, http://localhost:3000",
    }),
  )
  expect(settings).toMatchObject({
    baseUrl: "https://cabinet.example.com/data",
    statementTimeout: 120_000,
    lockTimeout: 500,
    timeZone: "Europe/Berlin",
    apiOrigins: ["https://app.example.com", "http://localhost:3000"],
  })
  expect([settings.trustedProxies("10.1.2.3"), settings.trustedProxies("192.0.2.2")]).toEqual([true, false])
  expect(settings.allowedNetworks).toHaveLength(1)
})

it.each([
  ["port", "65536", "--port"],
  ["port", "-1", "--port"],
  ["port", "80a", "--port"],
  ["baseUrl", "cabinet.example.com", "--base-url"],
  ["baseUrl", "https://user:secret@example.com", "--base-url"],
  ["baseUrl", "https://example.com/?a=1", "--base-url"],
  ["databaseUrl", "mysql://host/db", "--database-url"],
  ["databaseUrl", "postgres://", "--database-url"],
  ["timeZone", "Mars/Base", "--time-zone"],
  ["timeZone", "+02:00", "--time-zone"],
  ["trustedProxies", "10.0.0.0/33", "--trusted-proxies"],
  ["allowedNetworks", "localhost", "--allowed-networks"],
  ...["*", "null", "app.example.com", "https://app.example.com/shop", "https://a@b.example", "file:///x"].map(
    (text) => ["apiOrigins", text, "--api-origins"] as const,
  ),
  ["apiRate", "0", "--api-rate"],
  ["statementTimeout", "0s", "--statement-timeout"],
  ["statementTimeout", "2 weeks", "--statement-timeout"],
  ["reading", "maybe", "--reading"],
  ["logLevel", "loud", "--log-level"],
] as const)("readSettings refuses %s %s with a sentence that names it", (name, text, flag) => {
  expect(refusal({ [name]: text })).toMatch(new RegExp(`^${flag} is .*: it must be .*\\.$`))
  expect(refusal({}, { [SETTINGS[name].env]: text })).toMatch(new RegExp(`^${SETTINGS[name].env} is `))
})

it("readSettings refuses a proxy sign-in that trusts every address or none", () => {
  const header = { CABINET_CONSOLE_PROXY_HEADER: "Remote-User" }
  expect(refusal({}, header)).toMatch(
    /^CABINET_CONSOLE_PROXY_HEADER is set, but no proxy is named in CABINET_CONSOLE_PROXIES/,
  )
  // A proxy trusted with a client's address is not thereby trusted to name a person.
  expect(refusal({}, { ...header, CABINET_TRUSTED_PROXIES: "10.0.0.0/8" })).toMatch(/anyone could sign in/)
  expect(refusal({ consoleProxies: "10.0.0.1" })).toMatch(
    /^--console-proxies is set, but not CABINET_CONSOLE_PROXY_HEADER/,
  )
  for (const name of ["Cookie", "From", "X-Forwarded-For", "Remote User", "Authorization"]) {
    const refused = refusal({}, { CABINET_CONSOLE_PROXY_HEADER: name, CABINET_CONSOLE_PROXIES: "10.0.0.1" })
    expect(refused).toMatch(/^CABINET_CONSOLE_PROXY_HEADER is ".*": it must be the name of a dedicated header/)
  }
  const right = read({}, { ...header, CABINET_CONSOLE_PROXIES: "10.0.0.1", CABINET_CONSOLE_PROXY_ROLE: "editor" })
  expect(Result.getOrThrow(right)).toMatchObject({ consoleProxyHeader: "remote-user", consoleProxyRole: "editor" })
  expect(refusal({}, { CABINET_CONSOLE_PROXY_ROLE: "uploader" })).toMatch(/one of owner, editor, viewer/)
})

it("readSettings refuses an incomplete OpenID Connect sign-in, and never repeats its secret", () => {
  const issuer = { CABINET_OIDC_ISSUER: "https://id.example.com/" }
  expect(refusal({}, issuer)).toBe("CABINET_OIDC_ISSUER is set, but not CABINET_OIDC_CLIENT_ID.")
  expect(refusal({}, { CABINET_OIDC_ROLE: "viewer" })).toMatch(/^CABINET_OIDC_ROLE is set, but not CABINET_OIDC_ISSUER/)
  expect(refusal({}, { CABINET_OIDC_CLIENT_SECRET: "hush" })).not.toContain("hush")
  for (const wrong of [
    "http://id.example.com",
    "id.example.com",
    "https://a:b@id.example.com",
    "https://id.example.com/?a=1",
  ]) {
    expect(refusal({}, { ...issuer, CABINET_OIDC_ISSUER: wrong })).toMatch(/must be an https URL/)
  }
  const whole = { ...issuer, CABINET_OIDC_CLIENT_ID: "cabinet" }
  for (const roles of ["admins", "=owner", "admins=root", "admins=owner,"]) {
    expect(refusal({}, { ...whole, CABINET_OIDC_ROLES: roles })).toMatch(/must be a list such as/)
  }
  const right = Result.getOrThrow(read({}, { ...whole, CABINET_OIDC_ROLES: "team=admins=owner, staff=viewer" }))
  // Kept as given: the issuer's own spelling counts.
  expect(right.oidcIssuer).toBe("https://id.example.com/")
  expect([...right.oidcRoles]).toEqual([
    ["team=admins", "owner"],
    ["staff", "viewer"],
  ])
})

it("readSettings refuses a bucket for old events without its keys, and its settings without it", () => {
  const keys = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "hush" }
  const at = (CABINET_COLD_STORE: string, more: object = keys) => refusal({}, { CABINET_COLD_STORE, ...more })
  expect(at("s3://history/cabinet/old")).toBe("taken")
  expect(at("/srv/history", {})).toBe("taken")
  for (const wrong of ["s3://", "s3://UP/x", "s3://history/", "s3://history/..", "gs://history/x"]) {
    expect(at(wrong)).toMatch(/must be a directory, or s3:\/\/BUCKET\/PREFIX/)
  }
  for (const missing of [{}, { ...keys, AWS_ACCESS_KEY_ID: "" }, { ...keys, AWS_SECRET_ACCESS_KEY: "" }]) {
    expect(at("s3://history", missing)).toMatch(/its keys must be in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/)
  }
  expect(at("s3://history", { ...keys, AWS_SECRET_ACCESS_KEY: "hush hush" })).not.toContain("hush")
  for (const name of ["CABINET_COLD_ENDPOINT", "CABINET_COLD_REGION", "CABINET_COLD_URL_STYLE"]) {
    const value = name === "CABINET_COLD_ENDPOINT" ? "https://s3.example.com" : "path"
    expect(at("/srv/history", { [name]: value })).toBe(
      `${name} is set, but CABINET_COLD_STORE is not a bucket, s3://BUCKET/PREFIX.`,
    )
    expect(at("s3://history", { ...keys, [name]: value })).toBe("taken")
    expect(at("s3://history", { ...keys, [name]: "https://s3.example.com/x" })).toMatch(/must be/)
  }
})

it("readSettings does not repeat a database's password", () => {
  expect(refusal({}, { DATABASE_URL: "postgre://user:hush@host/db" })).not.toContain("hush")
  expect(refusal({ databaseUrl: "postgre://user:hush@host/db" })).not.toContain("hush")
})

it("readSettings refuses a path in the base URL of a server with many cabinets", () => {
  expect(refusal({ serviceDomain: "cabinets.test" }, { BASE_URL: "https://cabinets.test/data" })).toBe(
    'BASE_URL is "https://cabinets.test/data": it must have no path, because with several cabinets each is served at the root of its own host.',
  )
  expect(refusal({ serviceDomain: "cabinets.test", baseUrl: "http://cabinets.test:8080/" })).toBe("taken")
  for (const name of ["DATABASE_READ_URL", "DATABASE_READER_URL", "DATABASE_AUTHOR_URL"]) {
    expect(refusal({ serviceDomain: "cabinets.test" }, { [name]: "postgres://reader@localhost/one" })).toBe(
      `${name} applies to a single cabinet only: with several, each has its own database.`,
    )
    expect(refusal({}, { [name]: "postgres://reader@localhost/one" })).toBe("taken")
  }
})

it("readSettings takes from DATABASE_CA and PG variables only what DATABASE_URL leaves out", () => {
  const DATABASE_URL = "postgres://app:pw@db.example.com/orders"
  const url = (env: Record<string, string>) => Result.getOrThrow(read({}, { HOME: "/nowhere", ...env })).databaseUrl
  expect(url({ PGHOST: "elsewhere", PGUSER: "app", PGSSLMODE: "require" })).toBeNull()
  expect(url({ DATABASE_URL })).toBe(`${DATABASE_URL}?sslmode=prefer`)
  expect(url({ DATABASE_URL, DATABASE_CA: "/ca.pem" })).toBe(
    `${DATABASE_URL}?sslrootcert=%2Fca.pem&sslmode=verify-full`,
  )
  expect(url({ DATABASE_URL, PGHOST: "x", PGSSLMODE: "require" })).toBe(`${DATABASE_URL}?sslmode=require`)
  expect(refusal({}, { DATABASE_URL, HOME: "/nowhere", PGSSLCRL: "/crl.pem" })).toBe(
    "DATABASE_URL is not valid: it must be a URL without the parameter sslcrl, which is not supported.",
  )
})
