/**
 * What an address asks of TLS is done by every connection of a cabinet, or there is none: on a server with TLS, on one
 * without, and on one that only says it has none.
 */
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { once } from "node:events"
import { join } from "node:path"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { runScript } from "@data-cabinet/store-pg/connection/AuthorSession"
import { connectionSecurity } from "@data-cabinet/store-pg/connection/ConnectionSecurity"
import { giveTo } from "@data-cabinet/store-pg/embedded/Unprivileged"
import { nextDue } from "@data-cabinet/store-pg/maintenance/NextDue"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import * as ReaderClient from "@data-cabinet/store-pg/connection/ReaderClient"
import { PgClient } from "@effect/sql-pg"
import { openDatabase } from "data-cabinet/compose/OpenDatabase"
import { Effect, Layer, Option } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ClusterHome, clusterHome, type TestCluster } from "../support/cluster.ts"

const DATABASE = "orders"
const PASSWORD = "s3cr3t"

let home: ClusterHome
let ports: { readonly tls: number; readonly plain: number }
let tls: TestCluster
let pem: (name: string) => string

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

/** An authority, and a certificate of it for `localhost` alone. */
const certificates = (dir: string) => {
  const openssl = (words: string) => execFileSync("openssl", words.split(" "), { cwd: dir, stdio: "pipe" })
  const newKey = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
  for (const name of ["ca", "other"]) {
    openssl(`req -x509 ${newKey} -days 2 -subj /CN=${name} -keyout ${name}.key -out ${name}.pem`)
  }
  const named = "-subj /CN=localhost -addext subjectAltName=DNS:localhost"
  openssl(`req ${newKey} ${named} -keyout server.key -out server.csr`)
  const signed = "-CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -copy_extensions copy"
  openssl(`x509 -req -in server.csr ${signed} -out server.pem`)
  chmodSync(join(dir, "server.key"), 0o600)
}

const address = (parameters: string, { port = ports.tls, host = "localhost" } = {}) =>
  `postgres://cabinet:${PASSWORD}@${host}:${port}/${DATABASE}${parameters}`

const ask = (url: string) =>
  PgClient.PgClient.use((sql) => sql<{ ssl: boolean }>`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`).pipe(
    Effect.provide(OwnerClient.layer({ url })),
    Effect.runPromise,
  )

const refusalOf = async (url: string): Promise<string> => {
  const { message } = await Effect.runPromise(Effect.flip(openDatabase({ url })))
  assert.notInclude(message, PASSWORD)
  return message
}

beforeAll(async () => {
  home = clusterHome()
  const dir = join(home.dir, "tls")
  mkdirSync(dir)
  certificates(dir)
  giveTo(home.launcher, dir)
  pem = (name) => encodeURIComponent(join(dir, `${name}.pem`))
  ports = { tls: await freePort(), plain: await freePort() }
  tls = await home.init("with")
  const plain = await home.init("without")
  // Nobody is let in without TLS where there is TLS.
  const local = "local all all trust\n"
  writeFileSync(join(tls.pgdata, "pg_hba.conf"), `${local}hostssl all all 127.0.0.1/32 scram-sha-256\n`)
  writeFileSync(join(plain.pgdata, "pg_hba.conf"), `${local}host all all 127.0.0.1/32 scram-sha-256\n`)
  for (const cluster of [tls, plain]) {
    await cluster.start()
    await cluster.createDatabase(DATABASE)
    await cluster.run(`ALTER ROLE cabinet PASSWORD '${PASSWORD}'`)
    await cluster.end("SIGINT")
  }
  const files = { ssl_cert_file: join(dir, "server.pem"), ssl_key_file: join(dir, "server.key") }
  await tls.start({ listen_addresses: "127.0.0.1", port: String(ports.tls), ssl: "on", ...files })
  await plain.start({ listen_addresses: "127.0.0.1", port: String(ports.plain) })
})
afterAll(() => home.remove())

it("every connection of a cabinet is encrypted where its address says ssl=true", async () => {
  const url = address("?ssl=true")
  const { roles } = await Effect.runPromise(openDatabase({ url }))
  if (!roles.reader.there || !roles.author.there) throw new Error("no roles")
  await Effect.runPromise(nextDue(url, 90))
  const script = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
  const [outcome] = await Effect.runPromise(runScript({ url: roles.author.url, script, transaction: true }))
  assert.deepStrictEqual(outcome!.rows, ['{"ssl":true}'])
  const sessions = await Effect.gen(function* () {
    const { sessions: own } = yield* ReaderClient.ReaderClient
    const { shared, apart } = Option.getOrThrow(own)
    return [
      ...(yield* (yield* PgClient.PgClient).unsafe<{ ssl: boolean }>(script)),
      ...(yield* OwnerClient.StatementClient.use((sql) => sql.unsafe<{ ssl: boolean }>(script))),
      ...(yield* fromCall((call) => shared.acquire(call)).pipe(
        Effect.flatMap(({ session }) => Effect.map(session.query(script), ({ rows }) => rows)),
      )),
      ...(yield* apart.use((session) => Effect.map(session.query(script), ({ rows }) => rows))),
    ]
  }).pipe(
    Effect.provide(
      Layer.merge(OwnerClient.layer({ url }), ReaderClient.layer({ url: roles.reader.url, role: roles.reader.role })),
    ),
    Effect.runPromise,
  )
  assert.deepStrictEqual(sessions, [{ ssl: true }, { ssl: true }, { ssl: true }, { ssl: true }])
})

it("verify-full checks who signed and for which name, verify-ca who signed, require neither", async () => {
  const good = pem("ca")
  for (const [parameters, host] of [
    ["?sslmode=require", "127.0.0.1"],
    [`?sslmode=require&sslrootcert=${good}`, "127.0.0.1"],
    [`?sslmode=verify-ca&sslrootcert=${good}`, "127.0.0.1"],
    [`?sslmode=verify-full&sslrootcert=${good}`, "localhost"],
  ] as const) {
    assert.deepStrictEqual(await ask(address(parameters, { host })), [{ ssl: true }], parameters)
  }
  for (const [parameters, host, words] of [
    [`?sslmode=verify-full&sslrootcert=${good}`, "127.0.0.1", /does not match certificate/],
    [`?sslmode=verify-full&sslrootcert=${pem("other")}`, "localhost", /certificate/],
    [`?sslmode=verify-ca&sslrootcert=${pem("other")}`, "localhost", /certificate/],
    [`?sslmode=require&sslrootcert=${pem("other")}`, "localhost", /certificate/],
    ["?sslmode=verify-full", "localhost", /certificate/],
    [`?sslmode=verify-full&sslrootcert=${pem("missing")}`, "localhost", /sslrootcert cannot be used/],
    ["", "localhost", /requires TLS .*Add sslmode/],
  ] as const) {
    assert.match(await refusalOf(address(parameters, { host })), words, parameters)
  }
})

it("connectionSecurity tells what was found, and not only what was asked for", async () => {
  const look = async (parameters: string, to = {}) => {
    const { transport, verified } = await Effect.runPromise(connectionSecurity(address(parameters, to)))
    return `${transport}, ${verified}`
  }
  assert.strictEqual(await look("?sslmode=prefer"), "tls, no")
  assert.strictEqual(await look("?sslmode=prefer", { port: ports.plain }), "clear text, no")
  assert.strictEqual(await look(`?sslmode=verify-ca&sslrootcert=${pem("ca")}`), "tls, authority")
  assert.strictEqual(await look(`?sslmode=verify-full&sslrootcert=${pem("ca")}`), "tls, name")
})

it("sslmode prefer and allow encrypt where the server has or wants TLS, and only there", async () => {
  for (const mode of ["prefer", "allow"]) {
    assert.deepStrictEqual(await ask(address(`?sslmode=${mode}`)), [{ ssl: true }], mode)
    assert.deepStrictEqual(await ask(address(`?sslmode=${mode}`, { port: ports.plain })), [{ ssl: false }], mode)
  }
})

it("a server without TLS is refused, and is told no password, where the address asks for TLS", async () => {
  assert.match(await refusalOf(address("?ssl=true", { port: ports.plain })), /does not support TLS/)
  assert.deepStrictEqual(await ask(address("?sslmode=disable", { port: ports.plain })), [{ ssl: false }])
  const heard: Array<Buffer> = []
  const liar = createServer((socket) => {
    socket.on("error", () => {})
    socket.on("data", (bytes) => {
      heard.push(bytes)
      socket.write("N")
    })
  }).listen(0, "127.0.0.1")
  await once(liar, "listening")
  const { port } = liar.address() as { port: number }
  for (const parameters of ["?ssl=true", "?sslmode=require", "?sslmode=verify-full"]) {
    await refusalOf(address(parameters, { port }))
  }
  liar.close()
  // Each time the eight bytes that ask for TLS, and nothing after them.
  assert.isTrue(heard.every((bytes) => bytes.length === 8))
  assert.isAtLeast(heard.length, 3)
  assert.notInclude(readFileSync(join(home.dir, "without.log"), "utf8"), PASSWORD)
})
