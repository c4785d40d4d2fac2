/** Missing parts of a URL come from the same places as in libpq, and from nowhere else. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { completeDatabaseUrl, type Defaults } from "@data-cabinet/store-pg/connection/DatabaseUrlDefaults"
import { parseDatabaseUrl } from "@data-cabinet/store-pg/connection/DatabaseUrl"
import { passwordIn } from "@data-cabinet/store-pg/connection/PasswordFile"
import { Result } from "effect"
import { afterAll, assert, it } from "vitest"

const home = mkdtempSync(join(tmpdir(), "dc-home-"))
afterAll(() => rmSync(home, { recursive: true }))

const complete = (given: string, env: Defaults["env"] = {}, use: Defaults["use"] = "primary") =>
  completeDatabaseUrl(given, { env: { HOME: home, ...env }, certificates: null, use })
const whole = (...words: Parameters<typeof complete>) => {
  const { uri, servers } = Result.getOrThrow(parseDatabaseUrl(Result.getOrThrow(complete(...words))))
  return { ...uri, servers, parameters: Object.fromEntries(uri.parameters) }
}
const refusal = (...words: Parameters<typeof complete>) => Result.getOrThrow(Result.flip(complete(...words)))

it("a complete URL is unchanged", () => {
  const address = "postgres://app:pw@db:5432/orders?sslmode=verify-full"
  const env = { PGHOST: "x", PGPORT: "1", PGUSER: "x", PGPASSWORD: "x", PGDATABASE: "x", PGSSLMODE: "disable" }
  assert.strictEqual(Result.getOrThrow(complete(address, env)), address)
})

it("each missing part comes from its variable", () => {
  const env = {
    PGHOST: "db1,db2",
    PGPORT: "5433,5434",
    PGUSER: "app",
    PGPASSWORD: "p:w",
    PGDATABASE: "orders",
    PGSSLMODE: "require",
    PGAPPNAME: "shop",
    PGCONNECT_TIMEOUT: "4",
    PGOPTIONS: "-c work_mem=8MB",
    PGTARGETSESSIONATTRS: "any",
  }
  assert.deepInclude(whole("postgres://", env), {
    user: "app",
    password: "p:w",
    database: "orders",
    servers: [
      { host: "db1", port: 5433 },
      { host: "db2", port: 5434 },
    ],
    parameters: {
      application_name: "shop",
      connect_timeout: "4",
      options: "-c work_mem=8MB",
      sslmode: "require",
      target_session_attrs: "any",
    },
  })
})

it("without variables, the user is the system user, the database has the user's name, and TLS is preferred", () => {
  const { username } = userInfo()
  assert.deepInclude(whole("postgres://db"), { user: username, database: username, parameters: { sslmode: "prefer" } })
  assert.deepInclude(whole("postgres://app@db"), { user: "app", database: "app" })
  assert.deepStrictEqual(
    whole("postgres://app@/x?host=/run", { PGSSLMODE: "require", PGSSLROOTCERT: "/ca" }).parameters,
    {},
  )
  assert.match(refusal("postgres://app@/x"), /names a host/)
})

it("a list of hosts leads to the primary, or to a standby if there is one", () => {
  assert.include(whole("postgres://app@a,b/x").parameters, { target_session_attrs: "read-write" })
  assert.include(whole("postgres://app@a,b/x", {}, "standby").parameters, { target_session_attrs: "prefer-standby" })
  assert.match(refusal("postgres://app@a,b/x?target_session_attrs=standby"), /a standby cannot be written to/)
})

it("a variable with an unsupported value is refused like the parameter", () => {
  for (const [env, words] of [
    [{ PGSSLCRL: "/crl" }, /sslcrl/],
    [{ PGREQUIREAUTH: "scram-sha-256" }, /require_auth/],
    [{ PGCHANNELBINDING: "require" }, /channel_binding/],
    [{ PGSERVICE: "shop" }, /service/],
    [{ PGPORT: "0" }, /port/],
    [{ PGOPTIONS: "-c search_path=x" }, /search_path/],
  ] as const) {
    assert.match(refusal("postgres://app@db/x", env), words)
  }
})

it("a missing password comes from the password file, which no other user may read", () => {
  const file = join(home, "passwords")
  writeFileSync(file, "db:5432:orders:app:first\ndb2:*:*:app:second\n", { mode: 0o600 })
  const env = { PGPASSFILE: file }
  assert.strictEqual(whole("postgres://app@db/orders", env).password, "first")
  assert.strictEqual(whole("postgres://app@db2:6000/orders", env).password, "second")
  assert.strictEqual(whole("postgres://app@db/other", env).password, undefined)
  assert.strictEqual(whole("postgres://app:own@db/orders", env).password, "own")
  assert.strictEqual(whole(`postgres://app@db/orders?passfile=${encodeURIComponent(file)}`).password, "first")
  assert.match(refusal("postgres://app@db,db2/orders", env), /different ones for its hosts/)
  chmodSync(file, 0o640)
  assert.match(refusal("postgres://app@db/orders", env), /readable by its owner alone/)
  assert.match(refusal("postgres://app@db/orders", { PGPASSFILE: join(home, "none") }), /password file that exists/)
})

it.each([
  ["h:1:d:u:p", "p"],
  ["*:*:*:*:p", "p"],
  ["# h:1:d:u:no\nh:1:d:u:p", "p"],
  ["h:1:d:other:no\nh:1:d:u:p\nh:1:d:u:late", "p"],
  ["h:1:d:u:a\\:b\\\\c", "a:b\\c"],
  ["h:1:d:u", undefined],
  ["\\*:1:d:u:no", undefined],
  ["h:1:d:u:p:rest", "p"],
])("passwordIn finds in %j the password %j", (text, password) => {
  assert.strictEqual(passwordIn(text, { host: "h", port: "1", database: "d", user: "u" }), password)
})

it("the authority in ~/.postgresql is trusted if the server is verified", () => {
  const folder = join(home, ".postgresql")
  mkdirSync(folder)
  writeFileSync(join(folder, "root.crt"), "")
  const root = join(folder, "root.crt")
  assert.include(whole("postgres://app@db/x?sslmode=verify-ca").parameters, { sslrootcert: root })
  assert.deepStrictEqual(whole("postgres://app@db/x").parameters, { sslmode: "prefer" })
  rmSync(folder, { recursive: true })
})
