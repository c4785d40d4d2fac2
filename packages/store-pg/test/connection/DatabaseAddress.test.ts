/** What the address of a database may say, and in which words the rest is refused. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connectionOf, readAddress } from "@data-cabinet/store-pg/connection/DatabaseAddress"
import { Effect, Result } from "effect"
import { afterAll, assert, it } from "vitest"

const SECRET = "s3cr3t"
const BASE = `postgres://app:${SECRET}@db.example.com:5432/orders`
const files = mkdtempSync(join(tmpdir(), "dc-address-"))
afterAll(() => rmSync(files, { recursive: true }))

const refusal = (address: string): string => Result.getOrThrow(Result.flip(readAddress(address)))

it.each([
  ["?sslmode=disable", false],
  ["", false],
  ["?ssl=true", { rejectUnauthorized: false }],
  ["?sslmode=require", { rejectUnauthorized: false }],
  ["?sslmode=verify-full", {}],
])("connectionOf of an address with %j gives the driver these options of TLS", async (parameters, ssl) => {
  assert.deepStrictEqual((await Effect.runPromise(connectionOf(BASE + parameters))).ssl, ssl)
})

it.each([
  "?sslnegotiation=postgres&gssencmode=disable&channel_binding=disable&client_encoding=utf8",
  "?options=-c%20work_mem%3D8MB&target_session_attrs=any",
  "?host=%2Fvar%2Frun%2Fpostgresql&port=5433",
])("readAddress takes what is done as it says: %s", (parameters) => {
  assert.strictEqual(Result.getOrThrow(readAddress(BASE + parameters)), BASE + parameters)
})

it("readAddress names a host where only a socket's directory does, so that a role's login has a place", () => {
  const address = Result.getOrThrow(readAddress("postgresql:///orders?host=/var/run/postgresql"))
  assert.strictEqual(address, "postgresql://localhost/orders?host=/var/run/postgresql")
  assert.match(refusal("postgresql:///orders"), /names a host/)
})

it.each([
  ["?ssl=1", /ssl=true/],
  ["?ssl=true&sslmode=require", /not with both/],
  ["?sslmode=prefer", /sslmode is one of disable, require, verify-ca, verify-full .*clear text/],
  ["?sslmode=allow", /sslmode is one of/],
  ["?sslmode=", /sslmode is one of/],
  ["?sslmode=REQUIRE", /sslmode is one of/],
  ["?SSLMODE=require", /without the parameter SSLMODE, which is not honoured/],
  ["?sslmode=require&sslmode=disable", /the parameter sslmode once/],
  ["?sslrootcert=/ca.pem", /sslmode=verify-full beside sslrootcert/],
  ["?sslmode=disable&sslrootcert=/ca.pem", /sslmode=verify-full beside sslrootcert/],
  ["?sslmode=verify-ca", /sslrootcert beside sslmode=verify-ca/],
  ["?sslmode=require&sslrootcert=system", /verify-full beside sslrootcert=system/],
  ["?sslmode=verify-full&sslrootcert=", /name of a file, or system/],
  ["?sslmode=require&host=/tmp", /a socket has no TLS/],
  ["?sslcert=/c.pem&sslkey=/k.pem&sslmode=require", /without the parameter sslcert/],
  ["?sslkey=/k.pem", /sslkey/],
  ["?sslcrl=/crl.pem", /sslcrl/],
  ["?ssl_min_protocol_version=TLSv1.3", /ssl_min_protocol_version/],
  ["?requiressl=1", /requiressl/],
  ["?channel_binding=require", /channel_binding=disable/],
  ["?gssencmode=require", /gssencmode/],
  ["?target_session_attrs=read-write", /target_session_attrs/],
  ["?client_encoding=latin1", /client_encoding/],
  ["?connect_timeout=1", /connect_timeout, since a cabinet has time limits/],
  ["?application_name=x", /application_name/],
  ["?hostaddr=192.0.2.1", /hostaddr/],
  ["?host=a,b", /one name/],
  ["?port=0", /port is a number/],
  // The address of the reader is made of the owner's: with these it would be the owner that reads.
  ["?user=postgres", /user, which belongs before the host/],
  ["?password=x", /password, which belongs before the host/],
  ["?dbname=other", /dbname, which belongs behind the host/],
  ["#sslmode=require", /without #/],
  ["?pgbouncer=true", /pgbouncer/],
])("readAddress refuses %s in words, without the password", (parameters, words) => {
  const message = refusal(BASE + parameters)
  assert.match(message, words)
  assert.notInclude(message, SECRET)
})

it("readAddress shows nothing of a password in which a question mark is written as it is", () => {
  const message = refusal(`postgres://app:1/2?${SECRET}@db.example.com/orders`)
  assert.notInclude(message, SECRET)
  assert.notInclude(refusal(`postgres://app:1/2?${SECRET}=x@db.example.com/orders`), SECRET)
})

it("connectionOf fails in words where the certificates are not there", async () => {
  const empty = join(files, "empty.pem")
  writeFileSync(empty, "nothing")
  for (const [file, words] of [
    [join(files, "missing.pem"), /sslrootcert cannot be read: ENOENT/],
    [empty, /holds none/],
  ] as const) {
    const connection = connectionOf(`${BASE}?sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`)
    const { reason } = await Effect.runPromise(Effect.flip(connection))
    assert.match(reason.message ?? "", words)
    assert.notInclude(JSON.stringify(reason), SECRET)
  }
})

it("connectionOf fails for an address that is not to be honoured, wherever it came from", async () => {
  const { reason } = await Effect.runPromise(Effect.flip(connectionOf(`${BASE}?sslmode=prefer`)))
  assert.match(reason.message ?? "", /sslmode/)
})
