import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { allItems } from "@data-cabinet/core/pagination/IdPages"
import type { PollChange } from "@data-cabinet/core/poll/Poll"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, beforeEach, it, vi } from "vitest"
import { MISBEHAVIOURS, rawReceiver } from "../../packages/delivery/test/outgoing/hostileReceivers.ts"
import { pollCabinet } from "../support/pollCabinet.ts"
import { zipOf } from "../support/workbooks/zipOf.ts"
import { withDatabase } from "../support/postgres.ts"
import { runSql } from "../support/postgresAdmin.ts"

const database = withDatabase()
let cabinet: ReturnType<typeof pollCabinet>
/** The same with short time limits, only for a server that hangs. */
let hasty: ReturnType<typeof pollCabinet>
let server: Server
let base: string
let answer: (request: IncomingMessage, response: ServerResponse) => void
let asked: Array<IncomingMessage>
beforeAll(async () => {
  cabinet = pollCabinet(database.url, { maxBytes: 100_000 })
  hasty = pollCabinet(database.url, { idleMillis: 700, deadlineMillis: 2000, maxBytes: 100_000 })
  server = createServer((request, response) => {
    asked.push(request)
    answer(request, response)
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  base = `http://127.0.0.1:${(server.address() as { readonly port: number }).port}`
})
afterAll(async () => {
  await cabinet.close()
  await hasty.close()
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  asked = []
})

/** Which limit a hanging server exceeds first depends on the machine. */
const LATE = /nothing arrived for|no response within|no connection within|not complete within/

const json = (value: unknown, headers: Record<string, string> = {}) => {
  answer = (_request, response) => {
    response.writeHead(200, { "content-type": "application/json", ...headers })
    response.end(typeof value === "string" ? value : JSON.stringify(value))
  }
}

it("Polls treats the first run as history and later only new items, which are due for delivery", async () => {
  const source = await cabinet.source("items")
  await database.run(
    `INSERT INTO cabinet.address (url, secret, every_source) VALUES ('http://127.0.0.1:1/', 'whsec_x', true)`,
  )
  const poll = await cabinet.add({ sourceId: source.id, url: `${base}/items`, pointer: "/data/items", keyField: "id" })
  json({
    data: {
      items: [
        { id: 1, n: "a" },
        { id: 2, n: "b" },
        { id: 1, n: "again" },
      ],
    },
  })
  assert.deepInclude(await cabinet.run(poll.id), { outcome: "read", status: 200, items: 3, fresh: 2 })
  json({
    data: {
      items: [
        { id: 3, n: "c" },
        { id: 2, n: "changed" },
      ],
    },
  })
  assert.deepInclude(await cabinet.run(poll.id), { outcome: "read", items: 2, fresh: 1 })
  assert.deepInclude(await cabinet.run(poll.id), { outcome: "read", items: 2, fresh: 0, importId: null })
  const events = await cabinet.events(source.id)
  assert.deepStrictEqual(
    events.map(({ channel, history, payload }) => [channel, history, payload.n]),
    [
      ["pull", true, "a"],
      ["pull", true, "b"],
      ["pull", false, "c"],
    ],
  )
  const due = await database.run(`SELECT event_id::text AS id FROM cabinet.delivery_all`)
  assert.deepStrictEqual(due, [{ id: String(events[2].id) }])
  const runs = await cabinet.polls((polls) => polls.log(poll.id, 10))
  assert.deepStrictEqual(
    runs.map(({ fresh }) => fresh),
    [0, 1, 2],
  )
})

it("Polls recognises items without a key by their content, to the last digit", async () => {
  const source = await cabinet.source("content")
  const poll = await cabinet.add({ sourceId: source.id, url: `${base}/content` })
  json('[{"a":1.0},{"a":1},{"b":12345678901234567890}]')
  assert.strictEqual((await cabinet.run(poll.id)).fresh, 3)
  json('[{"a":1.0},{"b":12345678901234567891}]')
  assert.strictEqual((await cabinet.run(poll.id)).fresh, 1)
})

it("Polls sends conditional requests and treats 304 as unchanged", async () => {
  const source = await cabinet.source("conditional")
  const poll = await cabinet.add({ sourceId: source.id, url: `${base}/c` })
  json([{ a: 1 }], { etag: '"v1"', "last-modified": "Sat, 21 Nov 2026 10:00:00 GMT" })
  await cabinet.run(poll.id)
  answer = (_request, response) => response.writeHead(304).end()
  assert.deepInclude(await cabinet.run(poll.id), { outcome: "unchanged", status: 304, failure: null })
  assert.strictEqual(asked[1]!.headers["if-none-match"], '"v1"')
  assert.strictEqual(asked[1]!.headers["if-modified-since"], "Sat, 21 Nov 2026 10:00:00 GMT")
})

it("Polls sends its headers and shows their values nowhere", async () => {
  const source = await cabinet.source("secret")
  const poll = await cabinet.add({
    sourceId: source.id,
    url: `${base}/s`,
    headers: [["Authorization", "Bearer s3cret-token"]],
  })
  answer = (_request, response) => response.writeHead(401).end("s3cret")
  const run = await cabinet.run(poll.id)
  assert.strictEqual(asked[0]!.headers.authorization, "Bearer s3cret-token")
  const list = await cabinet.book((polls) => allItems(polls.list))
  assert.deepStrictEqual(list.find(({ id }) => id === poll.id)?.headerNames, ["Authorization"])
  assert.notInclude(JSON.stringify([poll, run, list]), "s3cret")
  const bad = await cabinet.refused({ sourceId: source.id, url: `${base}/s`, headers: [["X-A", "s3cret\nHost: x"]] })
  assert.strictEqual(bad._tag === "PollError" && bad.code, "bad_header")
  assert.notInclude(bad.message, "s3cret")
})

const refusedChange = (id: number, change: PollChange) =>
  cabinet.polls((polls) => Effect.flip(polls.change(id, change)))

it("Polls sends its headers only to the origin that they were given for", async () => {
  const source = await cabinet.source("moved")
  const headers = [["X-Token", "s3cret-token"]] as const
  const poll = await cabinet.add({ sourceId: source.id, url: `${base}/one?a=1`, headers })
  json([])
  const seen: Array<IncomingMessage> = []
  const other = createServer((request, response) => {
    seen.push(request)
    response.writeHead(200, { "content-type": "application/json" }).end("[]")
  })
  await new Promise<void>((done) => other.listen(0, "127.0.0.1", done))
  const elsewhere = `http://127.0.0.1:${(other.address() as { readonly port: number }).port}/one`
  try {
    const port = new URL(base).port
    for (const url of [
      elsewhere,
      base.replace("http:", "https:"),
      `http://localhost:${port}/`,
      `http://127.0.0.2:${port}/`,
    ]) {
      const refused = await refusedChange(poll.id, { url, pointer: "/x" })
      assert.strictEqual(refused._tag === "PollError" && refused.code, "headers_needed", url)
      assert.notInclude(refused.message, "s3cret")
    }
    assert.strictEqual((await cabinet.polls((polls) => polls.get(poll.id))).pointer, "")
    await cabinet.polls((polls) => polls.change(poll.id, { url: `${base}/two` }))
    await cabinet.run(poll.id)
    assert.deepStrictEqual([asked[0]!.url, asked[0]!.headers["x-token"]], ["/two", "s3cret-token"])
    const bare = await cabinet.polls((polls) => polls.change(poll.id, { url: elsewhere, headers: [] }))
    assert.deepStrictEqual(bare.headerNames, [])
    await cabinet.run(poll.id)
    assert.deepStrictEqual([seen[0]!.url, seen[0]!.headers["x-token"]], ["/one", undefined])
    await cabinet.polls((polls) => polls.change(poll.id, { url: base }))
    await cabinet.run(poll.id)
    assert.strictEqual(asked[1]!.headers["x-token"], undefined)
  } finally {
    other.close()
    other.closeAllConnections()
  }
})

it("Polls checks a change like a new poll, and omitted settings stay", async () => {
  const source = await cabinet.source("checked")
  const poll = await cabinet.add({ sourceId: source.id, url: `${base}/list`, pointer: "/items", keyField: "id" })
  for (const [change, code] of [
    [{ url: "http://10.0.0.5/" }, "not_public"],
    [{ url: "ftp://example.com/" }, "bad_url"],
    [{ everySeconds: 1 }, "bad_interval"],
    [{ format: "csv" }, "bad_pointer"],
    [{ keyField: "" }, "bad_key"],
    [{ headers: [["Host", "x"]] }, "bad_header"],
  ] as const) {
    const refused = await refusedChange(poll.id, change)
    assert.strictEqual(refused._tag === "PollError" && refused.code, code)
  }
  assert.strictEqual((await refusedChange(999_999, {}))._tag, "PollError")
  const changed = await cabinet.polls((polls) => polls.change(poll.id, { everySeconds: 3600 }))
  const { dueAt: _due, ...rest } = changed
  const { dueAt: _was, ...was } = poll
  assert.deepStrictEqual(rest, { ...was, everySeconds: 3600 })
})

it("Polls treats the first items under other settings as history, and requests without the old validators", async () => {
  const source = await cabinet.source("other items")
  const poll = await cabinet.add({ sourceId: source.id, url: `${base}/a?token=1`, keyField: "id" })
  const change = (settings: PollChange) => cabinet.polls((polls) => polls.change(poll.id, settings))
  json([{ id: 1 }], { etag: '"v1"' })
  await cabinet.run(poll.id)
  await change({ url: `${base}/a?token=2` })
  json([{ id: 1 }, { id: 2 }])
  assert.strictEqual((await cabinet.run(poll.id)).fresh, 1)
  assert.strictEqual(asked[1]!.headers["if-none-match"], undefined)
  await change({ url: `${base}/b` })
  json([{ id: 1 }, { id: 3 }])
  assert.strictEqual((await cabinet.run(poll.id)).fresh, 1)
  json([{ id: 4 }])
  await cabinet.run(poll.id)
  await change({ pointer: "/all" })
  json({ all: [{ id: 5 }] })
  await cabinet.run(poll.id)
  const events = await cabinet.events(source.id)
  assert.deepStrictEqual(
    events.map(({ history, payload }) => [payload.id, history]),
    [
      [1, true],
      [2, false],
      [3, true],
      [4, false],
      [5, true],
    ],
  )
})

it("Polls saves nothing from a run that began before a change", async () => {
  const source = await cabinet.source("under way")
  const poll = await cabinet.add({ sourceId: source.id, url: `${base}/slow`, keyField: "id" })
  const begun = Promise.withResolvers<ServerResponse>()
  answer = (_request, response) => begun.resolve(response)
  const run = cabinet.polls((polls) => Effect.flip(polls.run(poll.id)))
  const response = await begun.promise
  await cabinet.polls((polls) => polls.change(poll.id, { url: `${base}/quick` }))
  response.writeHead(200, { "content-type": "application/json", etag: '"old"' }).end('[{"id":1,"from":"slow"}]')
  assert.strictEqual((await run)._tag, "PollError")
  json([{ id: 1, from: "quick" }])
  assert.strictEqual((await cabinet.run(poll.id)).fresh, 1)
  assert.strictEqual(asked[1]!.headers["if-none-match"], undefined)
  const events = await cabinet.events(source.id)
  assert.deepStrictEqual(
    events.map(({ payload, history }) => [payload.from, history]),
    [["quick", true]],
  )
})

/** Everything that a run leaves behind. */
const traces = () =>
  Promise.all(
    ["poll", "poll_run", "poll_seen", "import", "staged_row", "event"].map((table) =>
      database.run(`SELECT t::text AS row FROM cabinet.${table} t ORDER BY 1`),
    ),
  )

it("Polls tries out a new poll, shows its items to the last digit, and keeps nothing", async () => {
  const source = await cabinet.source("tried")
  const settings = { sourceId: source.id, url: `${base}/tried`, everySeconds: 60, pointer: "/data", keyField: "id" }
  const before = await traces()
  json(
    '{"data":[{"id":1.0,"n":12345678901234567890.10},{"id":1.0},{"name":"<b>"},{"id":2},{"id":3},{"id":4},{"id":5}]}',
    {
      etag: '"v1"',
      "last-modified": "Sat, 21 Nov 2026 10:00:00 GMT",
      "set-cookie": "s3cret",
    },
  )
  const headers = [["X-Token", "s3cret-token"]] as const
  const trial = await cabinet.polls((polls) => polls.tryAdd({ ...settings, headers }))
  assert.deepInclude(trial, {
    status: 200,
    failure: null,
    peer: "127.0.0.1",
    contentType: "application/json",
    etag: '"v1"',
    lastModified: "Sat, 21 Nov 2026 10:00:00 GMT",
    format: "json",
    items: 7,
    fresh: 6,
    history: true,
    beginning: null,
  })
  assert.deepStrictEqual(trial.preview.slice(0, 3), [
    { payload: '{"id":1.0,"n":12345678901234567890.10}', whole: true, key: "1.0", fresh: true },
    { payload: '{"name":"<b>"}', whole: true, key: null, fresh: true },
    { payload: '{"id":2}', whole: true, key: "2", fresh: true },
  ])
  assert.strictEqual(trial.preview.length, 5)
  assert.notInclude(JSON.stringify(trial), "s3cret")
  assert.strictEqual(asked[0]!.headers["x-token"], "s3cret-token")
  json({ data: [{ id: 1, long: "x".repeat(50_000) }] })
  const long = await cabinet.polls((polls) => polls.tryAdd(settings))
  assert.deepInclude(long.preview[0], { whole: false, payload: `{"id":1,"long":"${"x".repeat(9_984)}` })
  for (const [refused, code] of [
    [{ url: "http://10.0.0.5/" }, "not_public"],
    [{ url: "file:///etc/passwd" }, "bad_url"],
    [{ pointer: "x" }, "bad_pointer"],
    [{ headers: [["Host", "x"]] }, "bad_header"],
  ] as const) {
    const error = await cabinet.polls((polls) => Effect.flip(polls.tryAdd({ ...settings, ...refused })))
    assert.strictEqual(error._tag === "PollError" && error.code, code)
  }
  assert.deepStrictEqual(await traces(), before)
})

it("Polls says why a tried response cannot be read, and shows its beginning", async () => {
  const url = `${base}/unread`
  const tried = (by: typeof cabinet) => by.polls((polls) => polls.tryAdd({ sourceId: 1, url, everySeconds: 60 }))
  for (const [failure, beginning, behave] of [
    [/responded with 500/, null, (_q, r) => r.writeHead(500).end("s3cret")],
    [/redirected more than 5 times/, null, (_q, r) => r.writeHead(302, { location: "/again" }).end()],
    [/longer than 100000 bytes/, null, (_q, r) => r.writeHead(200).end("[" + " ".repeat(200_000))],
    [/this is HTML or XML/, "<script>", (_q, r) => r.writeHead(200).end("<script>")],
    [/not an object/, `[1,"${"é".repeat(996)}`, (_q, r) => r.writeHead(200).end(`[1,"${"é".repeat(5000)}"]`)],
    [LATE, null, (_q, r) => void r.writeHead(200).write("[")],
    [/responded with 304/, null, (_q, r) => r.writeHead(304).end()],
  ] as ReadonlyArray<readonly [RegExp, string | null, typeof answer]>) {
    answer = behave
    const trial = await tried(failure === LATE ? hasty : cabinet)
    assert.match(trial.failure!, failure)
    assert.deepStrictEqual([trial.beginning, trial.preview, trial.fresh], [beginning, [], 0])
  }
})

it("Polls tries out an existing poll with its headers and seen items, and with an unsaved change", async () => {
  const source = await cabinet.source("tried again")
  const headers = [["X-Token", "s3cret-token"]] as const
  const poll = await cabinet.add({ sourceId: source.id, url: `${base}/there`, keyField: "id", headers })
  const tried = (change: PollChange = {}) => cabinet.polls((polls) => polls.tryChange(poll.id, change))
  json([{ id: 1 }], { etag: '"v1"' })
  assert.deepInclude(await tried(), { fresh: 1, history: true })
  await cabinet.run(poll.id)
  json([{ id: 1 }, { id: 2 }], { etag: '"v2"' })
  const before = await traces()
  const trial = await tried()
  assert.deepInclude(trial, { items: 2, fresh: 1, history: false })
  assert.deepStrictEqual(
    trial.preview.map(({ fresh }) => fresh),
    [false, true],
  )
  assert.deepStrictEqual(
    [asked[2]!.headers["if-none-match"], asked[2]!.headers["x-token"]],
    [undefined, "s3cret-token"],
  )
  json({ all: [{ n: 9 }] })
  assert.deepInclude(await tried({ pointer: "/all", keyField: "n" }), { fresh: 1, history: true, pointer: "/all" })
  for (const url of [base.replace("http:", "https:"), base.replace("127.0.0.1", "127.0.0.2")]) {
    const refused = await cabinet.polls((polls) => Effect.flip(polls.tryChange(poll.id, { url })))
    assert.strictEqual(refused._tag === "PollError" && refused.code, "headers_needed")
  }
  assert.strictEqual((await cabinet.polls((polls) => Effect.flip(polls.tryChange(999_999, {}))))._tag, "PollError")
  assert.deepStrictEqual(await traces(), before)
})

it("Polls tries out one poll at a time", async () => {
  const source = await cabinet.source("alone")
  const poll = await cabinet.add({ sourceId: source.id, url: `${base}/run` })
  const begun = Promise.withResolvers<ServerResponse>()
  answer = (_request, response) => begun.resolve(response)
  const tried = () => cabinet.polls((polls) => polls.tryAdd({ sourceId: 1, url: `${base}/slow`, everySeconds: 60 }))
  const first = tried()
  const response = await begun.promise
  const second = await cabinet.polls((polls) => Effect.flip(polls.tryChange(poll.id, {})))
  assert.strictEqual(second._tag === "PollError" && second.code, "busy")
  response.writeHead(200).end("[]")
  await first
  json([{ a: 1 }])
  assert.strictEqual((await tried()).items, 1)
})

it("Polls reads CSV and NDJSON as imports do", async () => {
  const source = await cabinet.source("formats")
  const csv = await cabinet.add({ sourceId: source.id, url: `${base}/x.csv`, keyField: "код" })
  answer = (_request, response) => {
    response.writeHead(200, { "content-type": "text/csv; charset=windows-1251" })
    response.end(Buffer.from("eaeee43b00".slice(0, 8) + "e80d0a3030373bff0d0a", "hex"))
  }
  assert.strictEqual((await cabinet.run(csv.id)).fresh, 1)
  const lines = await cabinet.add({ sourceId: source.id, url: `${base}/x` })
  answer = (_request, response) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" })
    response.end('{"a":1}\n\n{"a":2}')
  }
  assert.strictEqual((await cabinet.run(lines.id)).fresh, 2)
  const events = await cabinet.events(source.id)
  assert.deepStrictEqual(
    events.map((event) => event.payload),
    [{ код: "007", и: "я" }, { a: 1 }, { a: 2 }],
  )
})

it.each([
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
  ["zstd", zstdCompressSync],
  ["identity, gzip", gzipSync],
] as const)("Polls reads a response in the coding %s", async (coding, compress) => {
  const source = await cabinet.source(`coded ${coding}`)
  const poll = await cabinet.add({ sourceId: source.id, url: `${base}/coded` })
  answer = (_request, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": coding })
    response.end(compress('[{"a":1.0}]'))
  }
  assert.deepInclude(await cabinet.run(poll.id), { outcome: "read", fresh: 1, bytes: 11, failure: null })
  assert.strictEqual(asked[0]!.headers["accept-encoding"], "gzip, deflate, br, zstd")
})

const CSV = "id;name\n1;Anna\n2;Пётр\n"

it.each<[string, Buffer, string | null]>([
  ["orders.csv.gz", gzipSync(CSV), "application/gzip"],
  ["orders.csv", gzipSync(CSV), "text/csv"],
  ["orders.json", gzipSync('[{"id":"1","name":"Anna"},{"id":"2","name":"Пётр"}]'), "application/json"],
  ["orders.zip", zipOf([["orders.csv", CSV]]), "application/zip"],
  ["download", zipOf([["2026/orders.ndjson", '{"id":"1","name":"Anna"}\n{"id":"2","name":"Пётр"}\n']]), null],
])("Polls reads the one file inside the archive %s", async (path, body, type) => {
  const source = await cabinet.source(`archive ${path}`)
  const poll = await cabinet.add({ sourceId: source.id, url: `${base}/${path}` })
  answer = (_request, response) => response.writeHead(200, type === null ? {} : { "content-type": type }).end(body)
  assert.deepInclude(await cabinet.run(poll.id), { outcome: "read", fresh: 2, failure: null, doubts: [] })
  assert.deepStrictEqual(
    (await cabinet.events(source.id)).map((event) => event.payload),
    [
      { id: "1", name: "Anna" },
      { id: "2", name: "Пётр" },
    ],
  )
})

it("Polls fails a run whole when an archive is cut off, unpacks to too much, or holds several files", async () => {
  const source = await cabinet.source("bad archives")
  const poll = await cabinet.add({ sourceId: source.id, url: `${base}/bad.gz`, format: "csv" })
  for (const [body, words] of [
    [gzipSync(CSV).subarray(0, -5), /cut off after byte/],
    [gzipSync(`a\n${"0\n".repeat(17_000_000)}`), /unpacks to more than 32 MB/],
    [
      zipOf([
        ["a.csv", CSV],
        ["b.csv", CSV],
      ]),
      /holds 2 files \(a\.csv, b\.csv\)/,
    ],
  ] as const) {
    answer = (_request, response) => response.end(body)
    const run = await cabinet.run(poll.id)
    assert.deepInclude(run, { outcome: "failed", items: 0, fresh: 0 })
    assert.match(run.failure ?? "", words)
  }
  assert.deepStrictEqual(await cabinet.events(source.id), [])
})

it("Polls keeps the warnings of a run in its log", async () => {
  const source = await cabinet.source("doubts")
  const poll = await cabinet.add({ sourceId: source.id, url: `${base}/doubts` })
  answer = (_request, response) => response.end("a;b|c\n1;2|3\n4;5|6\n")
  const run = await cabinet.run(poll.id)
  assert.deepInclude(run, { outcome: "read", fresh: 2 })
  assert.deepStrictEqual(run.doubts, [
    {
      kind: "delimiter_unclear",
      count: 1,
      places: [{ line: 1, column: null }],
      message: "Several delimiters fit, and the first of them was taken: check that the cells are right.",
    },
  ])
  const kept = await runSql(database.url, `SELECT doubts FROM cabinet.import WHERE id = ${run.importId}`)
  assert.deepStrictEqual(kept, [{ doubts: run.doubts }])
  answer = (_request, response) => response.end("a,b,c\n1,2\n3,4,5\nTotal,6,5\n")
  const kinds = (await cabinet.run(poll.id)).doubts.map(({ kind, places }) => [kind, places[0]!.line])
  assert.deepStrictEqual(kinds, [
    ["totals_row", 4],
    ["short_rows", 2],
  ])
  const log = await cabinet.polls((polls) => polls.log(poll.id, 10))
  assert.deepStrictEqual(
    log.map(({ doubts }) => doubts.length),
    [2, 1],
  )
})

it.each([204, 205])("Polls finds nothing new when the status is %d, and keeps the seen marks", async (status) => {
  const source = await cabinet.source(`empty ${status}`)
  const poll = await cabinet.add({ sourceId: source.id, url: `${base}/empty` })
  json([{ a: 1 }], { etag: '"v1"' })
  await cabinet.run(poll.id)
  answer = (_request, response) => response.writeHead(status).end()
  assert.deepInclude(await cabinet.run(poll.id), { outcome: "unchanged", status, failure: null, fresh: 0 })
  json([])
  assert.deepInclude(await cabinet.run(poll.id), { outcome: "read", items: 0, fresh: 0, failure: null })
  assert.strictEqual(asked[2]!.headers["if-none-match"], '"v1"')
})

it("Polls fails a run whole, keeps nothing of it, and retries with growing intervals", async () => {
  const source = await cabinet.source("failing")
  const poll = await cabinet.add({ sourceId: source.id, url: `${base}/f`, everySeconds: 60 })
  const failures: Array<[expected: RegExp, behave: typeof answer]> = [
    [/not an object, at line 1, column 10/, (_q, r) => r.writeHead(200).end('[{"a":1},2]')],
    [/ends inside the list/, (_q, r) => r.writeHead(200, { "content-type": "application/json" }).end('[{"a":1}')],
    [/responded with 500/, (_q, r) => r.writeHead(500).end()],
    [
      /^behind a redirect to http:\/\/10\.0\.0\.5\/: 10\.0\.0\.5 is not a public address/,
      (_q, r) => r.writeHead(302, { location: "http://10.0.0.5/" }).end(),
    ],
    [
      /cannot be decompressed: The body is not valid gzip/,
      (_q, r) => r.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync('[{"a":1}]').subarray(0, -4)),
    ],
    [
      /cannot be decompressed: The body is not valid br/,
      (_q, r) => r.writeHead(200, { "content-encoding": "br" }).end('[{"a":1}]'),
    ],
    [
      /decompressed response is longer than 100000 bytes/,
      (_q, r) => r.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(`[${" ".repeat(200_000)}]`)),
    ],
    [/longer than 100000 bytes/, (_q, r) => r.writeHead(200).end("[" + " ".repeat(200_000))],
    [
      /this is HTML or XML/,
      (_q, r) => r.writeHead(200, { "content-type": "text/html" }).end("<!DOCTYPE html>\n<p>Log in\n<p>first"),
    ],
    [
      /content coding identity, compress; only gzip, deflate, br or zstd can be read/,
      (_q, r) => r.writeHead(200, ["content-encoding", "identity", "content-encoding", "compress"]).end("n\n1\n"),
    ],
    [/responded with 304/, (_q, r) => r.writeHead(304).end()],
    [LATE, (_q, r) => void r.writeHead(200).write("[")],
    [
      LATE,
      (_q, r) => {
        r.writeHead(200)
        const drip = setInterval(() => (r.destroyed ? clearInterval(drip) : r.write(" ")), 100)
      },
    ],
    [/closed|reset|broke/, (_q, r) => void r.destroy()],
  ]
  let failed = 0
  for (const [expected, behave] of failures) {
    answer = behave
    const run = await (expected === LATE ? hasty : cabinet).run(poll.id)
    assert.strictEqual(run.outcome, "failed")
    assert.match(run.failure!, expected)
    if (expected !== LATE) {
      assert.strictEqual(run.peer, "127.0.0.1")
      assert.strictEqual(run.status === null, /connection was/.test(run.failure!), run.failure!)
    }
    failed++
    const wait = (Date.parse(run.nextAt!) - Date.parse(run.at) - run.durationMs) / 1000
    assert.approximately(wait, Math.min(60 * 2 ** failed, 6 * 3600), 25)
  }
  assert.deepStrictEqual(await cabinet.events(source.id), [])
  assert.deepStrictEqual(await database.run(`SELECT 1 FROM cabinet.staged_row`), [])
  json([{ a: 1 }])
  assert.deepInclude(await cabinet.run(poll.id), { outcome: "read", fresh: 1 })
  // The first successful run is history, however many failed before it.
  assert.strictEqual((await cabinet.events(source.id))[0].history, true)
  assert.strictEqual((await cabinet.book(({ list }) => allItems(list))).find(({ id }) => id === poll.id)?.failures, 0)
})

it("Polls survives every misbehaviour of a receiver of deliveries, and keeps nothing of it", async () => {
  const source = await cabinet.source("hostile")
  const runs = MISBEHAVIOURS.map(async ({ name, behave, says, whole, hangs }) => {
    const receiver = await rawReceiver(behave)
    const poll = await cabinet.add({ sourceId: source.id, url: `http://127.0.0.1:${receiver.port}/` })
    const run = await (hangs === true ? hasty : cabinet).run(poll.id)
    await receiver.close()
    // HTTP allows no body after a 204: bytes there belong to no response.
    const isEmpty = run.status === 204
    assert.strictEqual(run.outcome, isEmpty ? "unchanged" : whole === true ? "read" : "failed", name)
    assert.strictEqual(run.items, 0, name)
    if (isEmpty || whole === true) assert.isNull(run.failure, name)
    else if (hangs === true) assert.match(run.failure!, LATE, name)
    else if (says === null) assert.isNotEmpty(run.failure, name)
    else assert.include(run.failure!, says, name)
    if (hangs !== true) assert.strictEqual(run.peer, "127.0.0.1", name)
    assert.isBelow(receiver.sent(), 20_000_000, name)
  })
  await Promise.all(runs)
  assert.deepStrictEqual(await cabinet.events(source.id), [])
  assert.deepStrictEqual(await database.run(`SELECT 1 FROM cabinet.staged_row`), [])
})

it("Polls refuses addresses that are not public before a socket opens, when saved and when run", async () => {
  const strict = pollCabinet(database.url, { allowed: [] })
  const source = await cabinet.source("strict")
  const receiver = await rawReceiver(() => {})
  const url = `http://127.0.0.1:${receiver.port}/`
  const refused = async (to: string) => {
    const error = await strict.refused({ sourceId: source.id, url: to })
    return error._tag === "PollError" ? error.code : error._tag
  }
  assert.strictEqual(await refused(url), "not_public")
  assert.strictEqual(await refused("http://0x7f.1/"), "not_public")
  assert.strictEqual(await refused("ftp://example.com/"), "bad_url")
  assert.strictEqual(await refused("http://u:p@example.com/"), "bad_url")
  const poll = await cabinet.add({ sourceId: source.id, url })
  const run = await strict.run(poll.id)
  assert.match(run.failure!, /not a public address/)
  assert.strictEqual(receiver.connections(), 0)
  await receiver.close()
  await strict.close()
})

it("PollLoop runs a poll when it is due, in one of several processes", async () => {
  const source = await cabinet.source("loop")
  let times = 0
  answer = (_request, response) => {
    times++
    response.writeHead(200).end(`[{"n":${times}}]`)
  }
  const poll = await cabinet.add({ sourceId: source.id, url: `${base}/loop`, everySeconds: 3600 })
  await database.run(`UPDATE cabinet.poll SET paused_at = now() WHERE id <> ${poll.id}`)
  const loops = [pollCabinet(database.url, { loop: true }), pollCabinet(database.url, { loop: true })]
  await Promise.all(loops.map((each) => each.book((book) => book.nextDue)))
  await vi.waitFor(async () => assert.strictEqual((await cabinet.events(source.id)).length, 1), 60_000)
  await database.run(`UPDATE cabinet.clock SET shift = '2 hours'`)
  await vi.waitFor(async () => assert.strictEqual((await cabinet.events(source.id)).length, 2), 60_000)
  assert.strictEqual(times, 2)
  await database.run(`UPDATE cabinet.clock SET shift = '0'`)
  await Promise.all(loops.map((each) => each.close()))
})

it("PollStore.nextDue is null while there is nothing to do, so that idle loops rest", async () => {
  await database.run("UPDATE cabinet.poll SET paused_at = coalesce(paused_at, now())")
  assert.isNull(await cabinet.book((book) => book.nextDue))
  const source = await cabinet.source("next")
  const poll = await cabinet.add({ sourceId: source.id, url: `${base}/next`, everySeconds: 3600 })
  assert.strictEqual(await cabinet.book((book) => book.nextDue), 0)
  await database.run(`UPDATE cabinet.poll SET due_at = cabinet.now() + interval '1 hour' WHERE id = ${poll.id}`)
  assert.approximately((await cabinet.book((book) => book.nextDue))!, 3_600_000, 600_000)
})

it("PollStore gives a running poll to no other process, and forgets a removed one", async () => {
  const source = await cabinet.source("held")
  const poll = await cabinet.add({ sourceId: source.id, url: `${base}/h`, headers: [["X-Key", "s3cret"]] })
  await cabinet.book((book) => book.claim(poll.id))
  await cabinet.run(poll.id).then(
    () => assert.fail("it was run twice"),
    (error: Error) => assert.match(error.message, /is running right now/),
  )
  await database.run(`UPDATE cabinet.clock SET shift = '5 minutes'`)
  json([{ a: 1 }])
  assert.strictEqual((await cabinet.run(poll.id)).fresh, 1)
  await database.run(`UPDATE cabinet.clock SET shift = '0'`)
  await cabinet.book((book) => book.remove(poll.id))
  const [row] = await database.run(
    `SELECT headers::text AS headers, (SELECT count(*)::int FROM cabinet.poll_seen WHERE poll_id = p.id) AS seen FROM cabinet.poll p WHERE id = ${poll.id}`,
  )
  assert.deepStrictEqual(row, { headers: "[]", seen: 0 })
})
