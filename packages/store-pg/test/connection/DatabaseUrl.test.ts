/** What a database URL may contain, and the messages for everything else. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connectionOf } from "@data-cabinet/store-pg/connection/Connection"
import { parseDatabaseUrl, normalizeDatabaseUrl } from "@data-cabinet/store-pg/connection/DatabaseUrl"
import { Effect, Result } from "effect"
import { afterAll, assert, it } from "vitest"

const SECRET = "s3cr3t"
const BASE = `postgres://app:${SECRET}@db.example.com:5432/orders`
const files = mkdtempSync(join(tmpdir(), "dc-address-"))
afterAll(() => rmSync(files, { recursive: true }))

const refusal = (address: string): string => Result.getOrThrow(Result.flip(normalizeDatabaseUrl(address)))

const host = "db.example.com"
const NAMED = { host, servername: host }

it.each([
  ["?sslmode=disable", false],
  ["", false],
  ["?sslmode=allow", false],
  ["?sslmode=prefer", { ...NAMED, rejectUnauthorized: false }],
  ["?ssl=true", { ...NAMED, rejectUnauthorized: false }],
  ["?sslmode=require", { ...NAMED, rejectUnauthorized: false }],
  ["?sslmode=verify-full", NAMED],
])("connectionOf turns %j in the URL into these TLS options of the driver", async (parameters, ssl) => {
  const { config } = await Effect.runPromise(connectionOf(BASE + parameters))
  assert.deepStrictEqual(config({}).ssl, ssl)
})

it("connectionOf gives the driver a client certificate, and refuses a key that others may read", async () => {
  const [cert, key] = [join(files, "own.pem"), join(files, "own.key")]
  writeFileSync(cert, "-----BEGIN CERTIFICATE-----")
  writeFileSync(key, "-----BEGIN EC PRIVATE KEY-----", { mode: 0o600 })
  const address = `${BASE}?sslmode=require&sslcert=${encodeURIComponent(cert)}&sslkey=${encodeURIComponent(key)}`
  const { config } = await Effect.runPromise(connectionOf(address))
  assert.deepInclude(config({}).ssl, {
    cert: "-----BEGIN CERTIFICATE-----",
    key: "-----BEGIN EC PRIVATE KEY-----",
  })
  chmodSync(key, 0o644)
  const { reason } = await Effect.runPromise(Effect.flip(connectionOf(address)))
  assert.match(reason.message ?? "", /sslkey cannot be used: .*other users can read .*chmod 600/)
})

it("parseDatabaseUrl reads several hosts, with one port or a port for each", () => {
  const servers = (address: string) => Result.getOrThrow(parseDatabaseUrl(address)).servers
  const [a, b] = [
    { host: "a", port: 5433 },
    { host: "b", port: 5432 },
  ]
  assert.deepStrictEqual(servers("postgres://u:p@a:5433,b/x"), [a, b])
  assert.deepStrictEqual(servers("postgres://u@/x?host=a,b&port=5433,5432"), [a, b])
  assert.deepStrictEqual(servers("postgres://u@/x?host=a,b&port=5433"), [a, { host: "b", port: 5433 }])
  assert.deepStrictEqual(servers("postgres://u@[::1]:6,[fe80::2]/x"), [
    { host: "::1", port: 6 },
    { host: "fe80::2", port: 5432 },
  ])
  const list = "postgres://u:p%20w@a:5433,b/x?target_session_attrs=read-write"
  assert.deepStrictEqual(servers(Result.getOrThrow(normalizeDatabaseUrl(list))), [a, b])
  assert.strictEqual(new URL(Result.getOrThrow(normalizeDatabaseUrl(list))).password, "p%20w")
})

it("parseDatabaseUrl reads the name of sessions, their settings and the connect timeout", () => {
  const read = parseDatabaseUrl(
    `${BASE}?application_name=shop&connect_timeout=7&options=-c%20work_mem%3D8MB%20--default-statistics-target%3D50`,
  )
  assert.deepInclude(Result.getOrThrow(read), {
    applicationName: "shop",
    connectSeconds: 7,
    options: [
      ["work_mem", "8MB"],
      ["default_statistics_target", "50"],
    ],
  })
})

it.each([
  "?sslnegotiation=postgres&gssencmode=disable&channel_binding=disable&client_encoding=utf8",
  "?channel_binding=prefer&gssencmode=prefer",
  "?sslmode=prefer",
  "?sslmode=allow",
  "?target_session_attrs=read-write&connect_timeout=1&application_name=x",
  "?options=-c%20work_mem%3D8MB&target_session_attrs=any",
  "?host=%2Fvar%2Frun%2Fpostgresql&port=5433",
])("normalizeDatabaseUrl accepts a supported URL: %s", (parameters) => {
  assert.strictEqual(Result.getOrThrow(normalizeDatabaseUrl(BASE + parameters)), BASE + parameters)
})

it("normalizeDatabaseUrl adds a host if only a socket's directory is given, so that a role's login has a place", () => {
  const address = Result.getOrThrow(normalizeDatabaseUrl("postgresql:///orders?host=/var/run/postgresql"))
  assert.strictEqual(address, "postgresql://localhost/orders?host=/var/run/postgresql")
  assert.match(refusal("postgresql:///orders"), /names a host/)
})

it.each([
  ["?ssl=1", /ssl=true/],
  ["?ssl=true&sslmode=require", /ssl or sslmode, not both/],
  ["?sslmode=prefer&sslrootcert=/ca.pem", /verify-full if it has sslrootcert/],
  ["?sslmode=", /sslmode is one of/],
  ["?sslmode=REQUIRE", /sslmode is one of/],
  ["?SSLMODE=require", /without the parameter SSLMODE, which is not supported/],
  ["?sslmode=require&sslmode=disable", /the parameter sslmode once/],
  ["?sslrootcert=/ca.pem", /verify-full if it has sslrootcert/],
  ["?sslmode=disable&sslrootcert=/ca.pem", /verify-full if it has sslrootcert/],
  ["?sslmode=verify-ca", /sslrootcert if its sslmode is verify-ca/],
  ["?sslmode=require&sslrootcert=system", /verify-full if its sslrootcert is system/],
  ["?sslmode=verify-full&sslrootcert=", /name of a file, or system/],
  ["?sslmode=require&host=/tmp", /a Unix socket, which has no TLS/],
  ["?sslcert=/c.pem&sslmode=require", /both sslcert and sslkey, or with neither/],
  ["?sslcert=/c.pem&sslkey=/k.pem", /verify-full if it has sslcert/],
  ["?sslkey=/k.pem", /sslkey/],
  ["?sslcrl=/crl.pem", /sslcrl/],
  ["?ssl_min_protocol_version=TLSv1.3", /ssl_min_protocol_version/],
  ["?requiressl=1", /requiressl/],
  ["?channel_binding=require", /channel_binding=disable: channel binding is not supported/],
  ["?gssencmode=require", /gssencmode/],
  ["?target_session_attrs=master", /target_session_attrs is one of any, read-write/],
  ["?client_encoding=latin1", /client_encoding/],
  ["?connect_timeout=0", /connect_timeout is 1 to 600 seconds/],
  ["?connect_timeout=-1", /connect_timeout is 1 to 600 seconds/],
  ["?application_name=", /application_name has 1 to 20/],
  ["?application_name=abcdefghijklmnopqrstu", /application_name has 1 to 20/],
  ["?options=-d%201", /options are settings/],
  ["?options=-c", /options are settings/],
  ["?options=-c%20search_path%3Dpublic", /options leave search_path alone/],
  ["?options=--TimeZone%3DAsia/Tokyo", /options leave TimeZone alone/],
  ["?work_mem", /name=value, joined by &/],
  ["?sslmode=require=x", /name=value, joined by &/],
  ["?hostaddr=192.0.2.1", /hostaddr/],
  ["?host=a,,b", /every host has a name/],
  ["?host=a@b", /every host is a name/],
  ["?host=a,b,c&port=1,2", /one port, or one for each host/],
  ["?port=0", /port is a number/],
  // The reader's URL is derived from the owner's: with these parameters the owner would read.
  ["?user=postgres", /user, which belongs before the host/],
  ["?password=x", /password, which belongs before the host/],
  ["?dbname=other", /dbname, which belongs after the host/],
  ["#sslmode=require", /without #/],
  ["?pgbouncer=true", /pgbouncer/],
])("normalizeDatabaseUrl refuses %s with a message, without the password", (parameters, words) => {
  const message = refusal(BASE + parameters)
  assert.match(message, words)
  assert.notInclude(message, SECRET)
})

it("normalizeDatabaseUrl hides a password with an unescaped question mark", () => {
  const message = refusal(`postgres://app:1/2?${SECRET}@db.example.com/orders`)
  assert.notInclude(message, SECRET)
  assert.notInclude(refusal(`postgres://app:1/2?${SECRET}=x@db.example.com/orders`), SECRET)
})

it("connectionOf fails with a message if the certificates do not exist", async () => {
  const empty = join(files, "empty.pem")
  writeFileSync(empty, "nothing")
  for (const [file, words] of [
    [join(files, "missing.pem"), /sslrootcert cannot be used: ENOENT/],
    [empty, /holds none/],
  ] as const) {
    const connection = connectionOf(`${BASE}?sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`)
    const { reason } = await Effect.runPromise(Effect.flip(connection))
    assert.match(reason.message ?? "", words)
    assert.notInclude(JSON.stringify(reason), SECRET)
  }
})

it("connectionOf fails for an unsupported URL, wherever it came from", async () => {
  const { reason } = await Effect.runPromise(Effect.flip(connectionOf(`${BASE}?sslmode=maybe`)))
  assert.match(reason.message ?? "", /sslmode/)
})
