/**
 * Every connection of a cabinet satisfies the TLS settings of its URL, or fails: on a server with TLS, on one without, and on
 * one that only claims to have none.
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
import * as StandbyReader from "@data-cabinet/store-pg/connection/StandbyReader"
import { PgClient } from "@effect/sql-pg"
import { openDatabase } from "data-cabinet/compose/OpenDatabase"
import { Effect, Layer, Option } from "effect"
import { afterAll, assert, beforeAll, describe, expect, it } from "vitest"
import { type ClusterHome, clusterHome, type TestCluster } from "../support/cluster.ts"
import { hasPgBouncer, type PgBouncer, startPgBouncer } from "../support/pgBouncer.ts"

const DATABASE = "orders"
const OWNER = "cabinet"
const PASSWORD = "s3cr3t"

let home: ClusterHome
let ports: Readonly<Record<"tls" | "plain" | "dead" | "pooled" | "pooledPlain", number>>
const bouncers: Array<PgBouncer> = []
let tls: TestCluster
let pem: (name: string) => string

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

/** An authority and its certificate, which is only for `localhost`. */
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

/** URLs of a server with TLS and of one without. */
const ROUTES: Readonly<Record<string, (hasTls: boolean) => number | readonly [dead: number, port: number]>> = {
  direct: (hasTls) => (hasTls ? ports.tls : ports.plain),
  "dead first host": (hasTls) => [ports.dead, hasTls ? ports.tls : ports.plain],
  ...(hasPgBouncer ? { PgBouncer: (hasTls: boolean) => (hasTls ? ports.pooled : ports.pooledPlain) } : {}),
}

const via = (route: string, hasTls: boolean, host: string, parameters: string) => {
  const each = [ROUTES[route]!(hasTls)].flat()
  const list = `host=${each.map(() => host).join(",")}&port=${each.join(",")}`
  return `postgres://cabinet:${PASSWORD}@localhost/${DATABASE}?${list}&${parameters}`
}

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
  ports = { tls: await freePort(), plain: await freePort(), dead: await freePort(), pooled: 0, pooledPlain: 0 }
  tls = await home.init("with")
  const plain = await home.init("without")
  // The server with TLS refuses sessions without it.
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
  if (!hasPgBouncer) return
  const pooled = async (settings: Readonly<Record<string, string>>) => {
    const bouncer = await startPgBouncer(home, plain, [OWNER], { pool_mode: "session", ...settings }, ports.plain)
    bouncers.push(bouncer)
    return Number(new URL(bouncer.url(OWNER, DATABASE)).port)
  }
  const ownTls = {
    client_tls_sslmode: "require",
    client_tls_cert_file: files.ssl_cert_file,
    client_tls_key_file: files.ssl_key_file,
  }
  ports = { ...ports, pooled: await pooled(ownTls), pooledPlain: await pooled({}) }
})
afterAll(async () => {
  for (const each of bouncers) await each.end()
  await home.remove()
})

it("every connection of a cabinet is encrypted when its URL has ssl=true", async () => {
  const url = address("?ssl=true")
  const { roles } = await Effect.runPromise(openDatabase({ url }))
  if (!roles.reader.there || !roles.author.there) throw new Error("no roles")
  await Effect.runPromise(nextDue(url, { originalDays: 90, logDays: 30, failedLogDays: 90, auditDays: 400 }))
  const script = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
  const [outcome] = await Effect.runPromise(runScript({ url: roles.author.url, script, transaction: true }))
  assert.deepStrictEqual(outcome!.rows, ['{"ssl":true}'])
  const sessions = await Effect.gen(function* () {
    const { sessions: own } = yield* ReaderClient.ReaderClient
    const { shared, isolated } = Option.getOrThrow(own)
    return [
      ...(yield* (yield* PgClient.PgClient).unsafe<{ ssl: boolean }>(script)),
      ...(yield* OwnerClient.StatementClient.use((sql) => sql.unsafe<{ ssl: boolean }>(script))),
      ...(yield* fromCall((call) => shared.acquire(call)).pipe(
        Effect.flatMap(({ session }) => Effect.map(session.query(script), ({ rows }) => rows)),
      )),
      ...(yield* isolated.use((session) => Effect.map(session.query(script), ({ rows }) => rows))),
    ]
  }).pipe(
    Effect.provide(
      Layer.merge(OwnerClient.layer({ url }), ReaderClient.layer({ url: roles.reader.url, role: roles.reader.role })),
    ),
    Effect.runPromise,
  )
  assert.deepStrictEqual(sessions, [{ ssl: true }, { ssl: true }, { ssl: true }, { ssl: true }])
})

it("verify-full checks the authority and the host name, verify-ca the authority, require neither", async () => {
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

it("connectionSecurity reports the actual state, not only the requested one", async () => {
  const look = async (parameters: string, to = {}) => {
    const { transport, verified } = await Effect.runPromise(connectionSecurity(address(parameters, to)))
    return `${transport}, ${verified}`
  }
  assert.strictEqual(await look("?sslmode=prefer"), "tls, no")
  assert.strictEqual(await look("?sslmode=prefer", { port: ports.plain }), "clear text, no")
  assert.strictEqual(await look(`?sslmode=verify-ca&sslrootcert=${pem("ca")}`), "tls, authority")
  assert.strictEqual(await look(`?sslmode=verify-full&sslrootcert=${pem("ca")}`), "tls, name")
})

it("sslmode prefer and allow encrypt if the server has or wants TLS, and only then", async () => {
  for (const mode of ["prefer", "allow"]) {
    assert.deepStrictEqual(await ask(address(`?sslmode=${mode}`)), [{ ssl: true }], mode)
    assert.deepStrictEqual(await ask(address(`?sslmode=${mode}`, { port: ports.plain })), [{ ssl: false }], mode)
  }
})

it("a server without TLS is refused, and gets no password, if the URL requires TLS", async () => {
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
  // Each time only the eight bytes that request TLS were sent.
  assert.isTrue(heard.every((bytes) => bytes.length === 8))
  assert.isAtLeast(heard.length, 3)
  assert.notInclude(readFileSync(join(home.dir, "without.log"), "utf8"), PASSWORD)
})

/**
 * A server, the name by which it is addressed, the expected owner of its certificate, and the message if it does not
 * match.
 */
const ROWS: ReadonlyArray<
  readonly [
    name: string,
    hasTls: boolean,
    host: string,
    ca: string,
    said: readonly [fault: string, toCheck: string] | null,
  ]
> = [
  ["the right authority", true, "localhost", "ca", null],
  [
    "a wrong authority",
    true,
    "localhost",
    "other",
    [
      "unable to verify the first certificate; if the root CA is installed locally, try running Node.js with --use-system-ca",
      "Check that sslrootcert or DATABASE_CA names the authority that signed the server's certificate.",
    ],
  ],
  [
    "a wrong name",
    true,
    "127.0.0.1",
    "ca",
    [
      "Hostname/IP does not match certificate's altnames: IP: 127.0.0.1 is not in the cert's list: ",
      "Name the host in DATABASE_URL as the server's certificate does, or use sslmode=verify-ca.",
    ],
  ],
  [
    "no TLS on the server",
    false,
    "localhost",
    "ca",
    ["The server does not support TLS", "Enable TLS on the server, or set sslmode=disable if the network is trusted."],
  ],
]

describe.each(Object.keys(ROUTES))("%s", (route) => {
  it.each(ROWS)("%s", async (_, hasTls, host, ca, said) => {
    const url = via(route, hasTls, host, `sslmode=verify-full&sslrootcert=${pem(ca)}`)
    // If the standby's URL is wrong, rows are read from the primary, and `doctor` reports it.
    const { reason } = await ReaderClient.ReaderClient.use((client) => client.standby!.settled).pipe(
      Effect.provide(
        StandbyReader.layer({ url, maxLagMillis: 60_000, reader: { role: OWNER, url } }).pipe(
          Layer.provideMerge(OwnerClient.layer({ url: address("?sslmode=require") })),
        ),
      ),
      Effect.runPromise,
    )
    if (said === null) {
      const { transport, verified } = await Effect.runPromise(connectionSecurity(url))
      expect({ transport, verified }).toEqual({ transport: "tls", verified: "name" })
      await Effect.runPromise(openDatabase({ url }))
      expect(reason).toMatch(/^It is not a (standby but a primary|copy of this database)/)
      return
    }
    const [fault, toCheck] = said
    const message = await refusalOf(url)
    expect(message).toMatch(/^The database at .* cannot be reached \(/)
    expect(message).toContain(`${fault}). ${toCheck}`)
    expect(reason).toMatch(/^It cannot be queried: /)
    expect(reason).toContain(fault)
  })
})
