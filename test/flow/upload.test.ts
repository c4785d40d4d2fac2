import { mkdtemp, readdir, readlink, rm } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { Sources } from "@data-cabinet/core/source/Sources"
import type { NewAccessToken } from "@data-cabinet/core/key/AccessToken"
import { Effect, Layer, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, it, vi } from "vitest"
import { testServerLayer } from "../support/testCabinet.ts"
import { withDatabase } from "../support/postgres.ts"
import { UploadLimits } from "@data-cabinet/http-node/file/UploadRoute"
import { ManageRates } from "@data-cabinet/http-node/manage/Identify"
import { Listener } from "@data-cabinet/http-node/server/Listener"

/** A second of silence ends an upload only where that is tested: here a busy machine is no stall. */
const served = (url: string, idleMillis = 60_000) =>
  testServerLayer(url, { baseUrl: "http://cabinet.test" }).pipe(
    Layer.provide(Layer.succeed(ManageRates, { token: 300, session: 1_200, wrong: 10 })),
    Layer.provide(Layer.succeed(UploadLimits, { fileBytes: 100_000, idleMillis, leastBytes: 10, atOnce: 2 })),
  )

const database = withDatabase()
let runtime: ManagedRuntime.ManagedRuntime<Layer.Success<ReturnType<typeof served>>, unknown>
let port: number
let token: string
let source: number
let spoolDir: string
beforeAll(async () => {
  // A separate directory, because another program on this machine may also receive uploads.
  spoolDir = await mkdtemp(join(tmpdir(), "dc-uploads-"))
  vi.stubEnv("TMPDIR", spoolDir)
  runtime = ManagedRuntime.make(served(database.url))
  port = (await runtime.runPromise(Listener)).port
  token = (await runtime.runPromise(AccessTokens.use((tokens) => tokens.issue(uploader("Ann"))))).token
  source = (await runtime.runPromise(Sources.use((sources) => sources.create({ name: "Up" })))).id
})
afterAll(async () => {
  await runtime.dispose()
  vi.unstubAllEnvs()
  await rm(spoolDir, { recursive: true })
})

const uploader = (name: string): NewAccessToken => ({ name, role: "uploader", expiresInSeconds: null })

interface Way {
  readonly method?: string
  readonly as?: string
  readonly at?: number
}

const upload = async (
  path: string,
  body: FormData | string | null,
  { method = "POST", as = token, at = port }: Way = {},
) => {
  const headers = as === "" ? {} : { authorization: `Bearer ${as}` }
  const response = await fetch(`http://127.0.0.1:${at}${path}`, { method, body, headers })
  const text = await response.text()
  assert.match(text, /[^\n]\n$/)
  return { status: response.status, json: JSON.parse(text), headers: response.headers }
}

const form = (content: string, name: string, fields: Record<string, string> = {}) => {
  const data = new FormData()
  for (const [key, value] of Object.entries(fields)) data.append(key, value)
  data.append("file", new File([content], name))
  return data
}

/** The open and the remaining files of uploads. None has a name, so that a killed process leaves nothing. */
const spools = async () => {
  assert.deepStrictEqual(await readdir(spoolDir), [])
  const opened = (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ""))
  return (await Promise.all(opened)).filter((path) => path.startsWith(spoolDir))
}

it("POST /upload imports a file and returns its report", async () => {
  const { status, json } = await upload(`/upload/${source}`, form("Имя;n\nЁж;1\n", "люди.csv"))
  assert.strictEqual(status, 200)
  assert.deepInclude(json, { ok: true, state: "done", file: "люди.csv", rows: 1, accepted: 1, delimiter: ";" })
  const again = await upload(`/upload/${source}`, form("Имя;n\nЁж;1\n", "люди.csv"))
  assert.deepInclude(again.json, { ok: false, error: "same_file" })
  assert.strictEqual(again.status, 409)
})

it("POST /upload takes options as fields of the form or of the query, and refuses unknown ones", async () => {
  const dry = await upload(`/upload/${source}?dry_run=true`, form("1,2\n", "x.csv", { header: "false" }))
  assert.deepInclude(dry.json, { ok: true, state: "dry_run", rows: 1, header: false })
  assert.deepStrictEqual(dry.json.preview, ['{"column1":"1","column2":"2"}'])
  const unknown = await upload(`/upload/${source}?dryrun=true`, form("1,2\n", "x.csv"))
  assert.deepStrictEqual([unknown.status, unknown.json.error], [400, "bad_option"])
  const wrong = await upload(`/upload/${source}`, form("1,2\n", "x.csv", { header: "yes" }))
  assert.deepStrictEqual([wrong.status, wrong.json.error], [400, "bad_option"])
})

it("POST /upload responds with 422 and the refused rows", async () => {
  const { status, json } = await upload(`/upload/${source}`, form('{"a":1}\n{"a":\n', "x.ndjson"))
  assert.deepInclude(json, { ok: false, error: "rows_refused", accepted: 0, refused: 1 })
  assert.strictEqual(json.refusals[0].line, 2)
  assert.strictEqual(status, 422)
})

it("POST /upload is open only to a valid token whose role allows it", async () => {
  const key = await runtime.runPromise(ApiKeys.use((keys) => keys.issue("reader")))
  const gone = await runtime.runPromise(
    AccessTokens.use((tokens) => Effect.tap(tokens.issue(uploader("gone")), ({ id }) => tokens.revoke(id))),
  )
  for (const as of ["", "nonsense", key.key, gone.token]) {
    const refused = await upload(`/upload/${source}`, form("a\n1\n", "x.csv"), { as })
    assert.deepStrictEqual([refused.status, refused.json.error], [401, "unauthorized"])
    assert.strictEqual(refused.headers.get("www-authenticate"), "Bearer")
  }
  for (const role of ["viewer", "reader"] as const) {
    const other = await runtime.runPromise(
      AccessTokens.use((tokens) => tokens.issue({ name: role, role, expiresInSeconds: null })),
    )
    const refused = await upload(`/upload/${source}`, form("a\n1\n", "x.csv"), { as: other.token })
    assert.deepStrictEqual([refused.status, refused.json.error], [403, "role_missing"])
  }
  const [row] = await database.run(
    `SELECT last_used_at IS NOT NULL AS used FROM cabinet.access_token WHERE name = 'Ann'`,
  )
  assert.strictEqual(row!["used"], true)
})

it("POST /upload slows an address with many wrong tokens, and locks out no valid ones", async () => {
  const random = () => `dco_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url")}`
  const tried = (as: string) => upload("/upload/x", "", { as })
  const wrong = (count: number) => Promise.all(Array.from({ length: count }, () => tried(random())))
  const { token: fresh } = await runtime.runPromise(AccessTokens.use((tokens) => tokens.issue(uploader("Fresh"))))
  const slowed = []
  // The count restarts each minute, possibly now.
  for (let round = 0; round < 3 && slowed.length === 0; round++) {
    for (let n = 0; n < 10; n++) assert.strictEqual((await tried(random())).status, 401)
    const [all, used] = await Promise.all([wrong(60), tried(token)])
    assert.strictEqual(used.status, 400)
    slowed.push(...all.filter(({ status }) => status === 429))
  }
  for (const { json, headers } of slowed) {
    assert.deepStrictEqual([json.error, headers.get("retry-after")], ["rate_limited", "1"])
  }
  assert.isNotEmpty(slowed)
  const [, unused] = await Promise.all([wrong(15), tried(fresh)])
  assert.strictEqual(unused.status, 400)
})

it("POST /upload refuses a token at the first request after its expiry", async () => {
  const lent = await runtime.runPromise(
    AccessTokens.use((tokens) => tokens.issue({ name: "lent", role: "editor", expiresInSeconds: 3600 })),
  )
  const dry = () => upload(`/upload/${source}?dry_run=true`, form("a\n1\n", "x.csv"), { as: lent.token })
  assert.strictEqual((await dry()).status, 200)
  await database.run("UPDATE cabinet.clock SET shift = interval '61 minutes'")
  assert.strictEqual((await dry()).status, 401)
  await database.run("UPDATE cabinet.clock SET shift = '0'")
})

it("a process of the previous version issues, accepts and revokes tokens for uploads, and sees no others", async () => {
  const [old] = await database.run(
    `INSERT INTO cabinet.upload_token AS o (name, prefix, fingerprint) VALUES ('old', 'dco_', sha256('old')) RETURNING id::int AS id`,
  )
  const all = await runtime.runPromise(AccessTokens.use((tokens) => tokens.list({ after: 0, limit: 1_000 })))
  assert.deepInclude(
    all.find(({ id }) => id === old!["id"]),
    { name: "old", role: "uploader", expiresAt: null },
  )
  const seen = await database.run("SELECT name FROM cabinet.upload_token")
  assert.notIncludeMembers(
    seen.map(({ name }) => name),
    ["viewer", "reader", "lent"],
  )
  const used = await database.run(
    "UPDATE cabinet.upload_token o SET last_used_at = cabinet.now() WHERE o.fingerprint = sha256('old') RETURNING 1 AS one",
  )
  assert.strictEqual(used.length, 1)
})

it("POST /upload names the error of a request", async () => {
  const error = async (...args: Parameters<typeof upload>) => {
    const { status, json } = await upload(...args)
    return [status, json.error]
  }
  const two = form("a\n1\n", "x.csv")
  two.append("other", new File(["b"], "y.csv"))
  const file = () => form("a\n1\n", "x.csv")
  assert.deepStrictEqual(await error(`/upload/${source}`, null, { method: "GET" }), [405, "method_not_allowed"])
  assert.deepStrictEqual(await error("/upload/x", file()), [400, "bad_source_id"])
  assert.deepStrictEqual(await error("/upload/99", file()), [404, "no_such_source"])
  assert.deepStrictEqual(await error("/upload/9223372036854775807", file()), [404, "no_such_source"])
  assert.deepStrictEqual(await error(`/upload/${source}`, "a,b"), [400, "bad_option"])
  assert.deepStrictEqual(await error(`/upload/${source}`, new FormData()), [400, "bad_option"])
  assert.deepStrictEqual(await error(`/upload/${source}`, two), [400, "bad_option"])
  assert.deepStrictEqual(await error(`/upload/${source}`, form("x".repeat(200_000), "x.csv")), [413, "too_large"])
})

it("POST /upload shows a file name without characters that cannot be stored", async () => {
  const boundary = "b"
  const body = [
    `--${boundary}`,
    `Content-Disposition: form-data; name="file"; filename*=UTF-8''..%2Fa%00b%1B%5B2J${"x".repeat(500)}.csv`,
    "",
    "odd\r\n1",
    `--${boundary}--`,
    "",
  ].join("\r\n")
  const response = await fetch(`http://127.0.0.1:${port}/upload/${source}`, {
    method: "POST",
    body,
    headers: { authorization: `Bearer ${token}`, "content-type": `multipart/form-data; boundary=${boundary}` },
  })
  const report = (await response.json()) as { readonly ok: boolean; readonly accepted: number; readonly file: string }
  assert.deepInclude(report, { ok: true, accepted: 1 })
  assert.match(report.file, /^a\uFFFDb\uFFFD\[2Jx+$/)
  assert.strictEqual(report.file.length, 255)
})

/** The token's place is free again a moment after its file is removed. */
const placeIsFree = (at = port) =>
  vi.waitFor(async () => {
    const { json } = await upload(`/upload/${source}`, form("a\n1\n", "late.csv"), { at })
    assert.notStrictEqual(json.error, "busy")
  }, 120_000)

it("POST /upload leaves no trace of an upload that is interrupted or stalls", async () => {
  const hasty = ManagedRuntime.make(served(database.url, 1_000))
  const { port: soon } = await hasty.runPromise(Listener)
  for (const [at, ends] of [
    [port, true],
    [soon, false],
  ] as const) {
    const socket = connect(at, "127.0.0.1")
    let answer = ""
    socket.on("error", () => {})
    socket.on("data", (chunk) => (answer += chunk.toString()))
    socket.write(
      `POST /upload/${source} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
        "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 10000\r\n\r\n" +
        '--b\r\nContent-Disposition: form-data; name="file"; filename="x.csv"\r\n\r\na,b\r\n1,2\r\n',
    )
    if (ends) await vi.waitFor(async () => assert.strictEqual((await spools()).length, 1), 120_000)
    else await vi.waitFor(() => assert.match(answer, /^HTTP\/1\.1 422 .*"error":"unreadable"/s), 120_000)
    socket.destroy()
    await vi.waitFor(async () => assert.deepStrictEqual(await spools(), []), 120_000)
    await placeIsFree(at)
  }
  await hasty.dispose()
})

it("POST /upload accepts a limited number at once, not all of one token, and refuses others before their body with a time to retry", async () => {
  const [second, third] = await runtime.runPromise(
    AccessTokens.use((tokens) => Effect.all([tokens.issue(uploader("Ben")), tokens.issue(uploader("Cleo"))])),
  )
  const begin = (as: string) => {
    const socket = connect(port, "127.0.0.1")
    socket.on("error", () => {})
    socket.write(
      `POST /upload/${source} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${as}\r\n` +
        "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 10000\r\n\r\n" +
        '--b\r\nContent-Disposition: form-data; name="file"; filename="x.csv"\r\n\r\na,b\r\n',
    )
    // Slow, but without stalling.
    const drip = setInterval(() => socket.write("1,2\r\n"), 100)
    return () => {
      clearInterval(drip)
      socket.destroy()
    }
  }
  const slow = [begin(token)]
  await vi.waitFor(async () => assert.strictEqual((await spools()).length, 1), 120_000)
  const late = (as: string) => upload(`/upload/${source}`, form("a\n1\n", "late.csv"), { as })
  const same = await late(token)
  assert.deepStrictEqual([same.status, same.json.error], [503, "busy"])
  slow.push(begin(second.token))
  await vi.waitFor(async () => assert.strictEqual((await spools()).length, 2), 120_000)
  const refused = await late(third.token)
  assert.deepStrictEqual([refused.status, refused.json.error], [503, "busy"])
  assert.strictEqual(refused.headers.get("retry-after"), "10")
  for (const end of slow) end()
  await vi.waitFor(async () => assert.deepStrictEqual(await spools(), []), 120_000)
  await placeIsFree()
})
