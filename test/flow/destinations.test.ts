/** Events leave as files: by the management API and the library, digit by digit, for readers of NDJSON and Parquet. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DuckDBInstance } from "@duckdb/node-api"
import { openCabinet } from "data-cabinet"
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet, DIGITS } from "../browser/support/consoleCabinet.ts"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { compressors } from "../support/exportReaders.ts"
import { S3_KEYS, type S3Service, startS3 } from "../support/s3Service.ts"
import { withDatabase } from "../support/postgres.ts"

const EVENTS = 3
const database = withDatabase()
const root = mkdtempSync(join(tmpdir(), "destinations-"))
let cabinet: ConsoleCabinet
let s3: S3Service
let owner: Visitor
let viewer: Visitor
beforeAll(async () => {
  s3 = await startS3()
  cabinet = await consoleCabinet(database.url, EVENTS, false, { destinationRoot: root })
  owner = visitor(cabinet.base, await cabinet.as("owner"))
  viewer = visitor(cabinet.base, await cabinet.as("viewer"))
})
afterAll(async () => {
  await cabinet.close()
  await s3.close()
  rmSync(root, { recursive: true })
})

const KEYS = { access_key_id: S3_KEYS.accessKeyId, secret_access_key: S3_KEYS.secretAccessKey }

/** The only file of a destination. */
const fileOf = (location: string): string => {
  const [name, ...others] = readdirSync(join(root, location))
  assert.deepEqual(others, [])
  return join(root, location, name!)
}

const duckdb = async (sql: string) => {
  const connection = await (await DuckDBInstance.create(":memory:")).connect()
  try {
    await connection.run("SET threads = 1")
    return (await connection.runAndReadAll(sql)).getRowObjects()
  } finally {
    connection.closeSync()
  }
}

it("only an owner adds a destination, and each refusal names its field", async () => {
  const editor = visitor(cabinet.base, await cabinet.as("editor"))
  for (const one of [editor, viewer]) {
    const denied = await one.manage("POST", "destinations", { location: "events" })
    assert.deepEqual([denied.status, denied.json.error.code], [403, "role_missing"])
  }
  for (const [body, status, code, param] of [
    [{ location: "../events" }, 400, "bad_location", "/location"],
    [{ location: "/etc" }, 400, "bad_location", "/location"],
    [{ location: ".ssh" }, 400, "bad_location", "/location"],
    [{ location: "a//b" }, 400, "bad_location", "/location"],
    [{ location: "s3://B/x", credentials: KEYS }, 400, "bad_location", "/location"],
    [{ location: "s3://events/../x", credentials: KEYS }, 400, "bad_location", "/location"],
    [{ location: "s3://events" }, 400, "credentials_needed", "/credentials"],
    [{ location: "events", region: "eu-west-1" }, 400, "not_s3", "/location"],
    [
      { location: "s3://events", credentials: { ...KEYS, access_key_id: "a b" } },
      400,
      "bad_credentials",
      "/credentials",
    ],
    [{ location: "s3://events", credentials: KEYS, region: "Mars!" }, 400, "bad_region", "/region"],
    [{ location: "s3://events", credentials: KEYS, endpoint: "https://a/b" }, 400, "bad_endpoint", "/endpoint"],
    [{ location: "s3://events", credentials: KEYS, endpoint: "http://10.0.0.1" }, 400, "not_public", "/endpoint"],
    [
      { location: "s3://events", credentials: KEYS, endpoint: "http://127.0.0.1", url_style: "virtual-host" },
      400,
      "bad_endpoint",
      "/endpoint",
    ],
    [{ location: "nats://EVENTS/a b" }, 400, "bad_location", "/location"],
    [{ location: "nats://EVENTS", format: "parquet" }, 400, "bad_location", "/location"],
    [{ location: "nats://EVENTS" }, 400, "bad_endpoint", "/endpoint"],
    [{ location: "nats://EVENTS", endpoint: "https://nats.example.com" }, 400, "bad_endpoint", "/endpoint"],
    [{ location: "nats://EVENTS", endpoint: "nats://a:b@127.0.0.1" }, 400, "bad_endpoint", "/endpoint"],
    [{ location: "nats://EVENTS", endpoint: "nats://127.0.0.1,tls://10.0.0.1" }, 400, "not_public", "/endpoint"],
    [{ location: "nats://EVENTS", endpoint: "nats://127.0.0.1", region: "eu-west-1" }, 400, "not_s3", "/location"],
    [
      { location: "nats://EVENTS", endpoint: "nats://127.0.0.1", credentials: KEYS },
      400,
      "bad_credentials",
      "/credentials",
    ],
    [
      { location: "nats://EVENTS", endpoint: "nats://127.0.0.1", credentials: { user: "a", token: "b" } },
      400,
      "bad_credentials",
      "/credentials",
    ],
    [{ location: "s3://events", credentials: KEYS, endpoint: "nats://127.0.0.1" }, 400, "bad_endpoint", "/endpoint"],
    [{ location: "s3://events", credentials: { token: "b" } }, 400, "bad_credentials", "/credentials"],
    [{ location: "events", sources: [999] }, 404, "no_such_source", "/sources"],
  ] as const) {
    const { json, ...refused } = await owner.manage("POST", "destinations", body)
    assert.deepEqual([refused.status, json.error.code, json.error.param], [status, code, param])
  }
  const elsewhere = await openCabinet({ databaseUrl: database.url, console: false, delivery: false })
  await expect(elsewhere.destinations.create({ location: "events" })).rejects.toMatchObject({
    code: "bad_location",
    message: expect.stringMatching(/CABINET_DESTINATION_ROOT/),
  })
  await elsewhere.close()
})

it("files have the events as the feed has them, for every reader, and a paused destination gets none", async () => {
  const added = await owner.manage("POST", "destinations", { location: "lines", sources: [cabinet.source.id] })
  assert.strictEqual(added.status, 201, added.text)
  assert.deepInclude(added.json, { location: "lines", format: "ndjson", paused: false, event_id: null, behind: EVENTS })
  const taken = await owner.manage("POST", "destinations", { location: "lines" })
  assert.deepEqual([taken.status, taken.json.error.code], [409, "destination_exists"])
  const parquet = await cabinet.cabinet.destinations.create({ location: "tables/all", format: "parquet" })
  const paused = await cabinet.cabinet.destinations.create({ location: "paused" })
  assert.isTrue((await cabinet.cabinet.destinations.pause(paused.id)).paused)

  const bucket = { location: "s3://events/all", format: "parquet", endpoint: s3.endpoint, credentials: KEYS }
  const inBucket = await owner.manage("POST", "destinations", bucket)
  assert.deepInclude(inBucket.json, { location: "s3://events/all", endpoint: s3.endpoint, has_credentials: true })
  const moved = await owner.manage("PATCH", `destinations/${inBucket.json.id}`, { endpoint: "http://127.0.0.1:9" })
  assert.deepEqual([moved.status, moved.json.error.code], [400, "credentials_needed"])
  const region = { region: "eu-central-1" }
  const changed = await owner.manage("PATCH", `destinations/${inBucket.json.id}`, region)
  assert.deepInclude(changed.json, { ...region, has_credentials: true })
  const stream = {
    location: "nats://EVENTS/cabinet",
    endpoint: "tls://127.0.0.1:9,nats://127.0.0.1",
    credentials: { user: "cabinet", password: "correct-horse" },
  }
  const published = await owner.manage("POST", "destinations", stream)
  const stored = { endpoint: "tls://127.0.0.1:9,nats://127.0.0.1:4222", has_credentials: true }
  assert.deepInclude(published.json, stored, published.text)
  const elsewhere = await owner.manage("PATCH", `destinations/${published.json.id}`, { endpoint: "nats://127.0.0.1:8" })
  assert.deepEqual([elsewhere.status, elsewhere.json.error.code], [400, "credentials_needed"])
  const token = { endpoint: "nats://127.0.0.1:8", credentials: { token: "correct-horse" } }
  assert.strictEqual((await owner.manage("PATCH", `destinations/${published.json.id}`, token)).status, 200)
  assert.strictEqual((await owner.manage("DELETE", `destinations/${published.json.id}`)).status, 204)
  const secrets = [...Object.values(KEYS), "correct-horse"]
  for (const text of [inBucket.text, changed.text, published.text, (await owner.manage("GET", "audit")).text]) {
    for (const secret of secrets) assert.notInclude(text, secret)
  }

  // Its first search finds what is due.
  const worker = await openCabinet({
    databaseUrl: database.url,
    console: false,
    destinationRoot: root,
    allowedNetworks: ["127.0.0.0/8"],
  })
  await expect
    .poll(async () => (await worker.destinations.list()).map(({ behind }) => behind), { timeout: 100_000 })
    .toEqual([0, 0, EVENTS, 0])
  await worker.close()

  const feed = await fetch(`${cabinet.base}/api/v1/events`, { headers: { "x-api-key": cabinet.key } })
  const { data } = (await feed.json()) as { readonly data: ReadonlyArray<{ readonly id: number }> }
  const ids = data.map(({ id }) => id)
  const lines = readFileSync(fileOf("lines"), "utf8").trimEnd().split("\n")
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { readonly id: number }).id),
    ids,
  )
  for (const [n, line] of lines.entries()) assert.include(line, `"order_no":${DIGITS.slice(0, 36)}000${n}`)

  const file = fileOf("tables/all")
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(file), compressors, utf8: true })
  assert.deepEqual(
    rows.map(({ id }) => Number(id)),
    ids,
  )
  const [object] = s3.names("all/")
  assert.deepEqual(s3.objects.get(object!), readFileSync(file))
  const [row] = await duckdb(
    `SELECT count(*)::int AS events, count(*) FILTER (payload::text LIKE '%"order_no":${DIGITS.slice(0, 36)}000%')::int AS exact FROM read_parquet('${file}')`,
  )
  assert.deepEqual(row, { events: EVENTS, exact: EVENTS })
  assert.notInclude(readdirSync(root), "paused")
  assert.strictEqual((await viewer.manage("GET", `destinations/${parquet.id}`)).json.event_id, ids.at(-1))
})

it("the console shows how far each destination has come, and why one waits; its acts are an owner's", async () => {
  const html = (await viewer.get("/console/destinations")).text
  assert.match(html, /tables\/all<\/bdi> <span class="badge good">up to date</)
  assert.match(html, /paused<\/bdi> <span class="badge quiet">paused</)
  assert.notInclude(html, "/pause")
  const [{ id }] = (await viewer.manage("GET", "destinations")).json.data as [{ readonly id: number }]
  assert.strictEqual((await viewer.post(`/console/destinations/${id}/pause`, {})).status, 403)
  assert.strictEqual((await owner.post(`/console/destinations/${id}/pause`, {})).status, 303)
  assert.isTrue((await owner.manage("GET", `destinations/${id}`)).json.paused)
  assert.strictEqual((await owner.post(`/console/destinations/${id}/resume`, {})).status, 303)
  await database.run(
    "UPDATE cabinet.follower SET failures = 2, error = 'The bucket refused <it>.', not_before = cabinet.now() + interval '1 hour' WHERE name = 's3://events/all'",
  )
  const failing = (await owner.get("/console/destinations")).text
  assert.match(failing, /s3:\/\/events\/all<\/bdi> <span class="badge bad">failed 2 times</)
  assert.include(failing, "The bucket refused &lt;it&gt;.")
  assert.include(failing, "Try now")
  const filled = await owner.post(`/console/destinations/${id}/restart`, {})
  assert.deepEqual([filled.status, filled.text.includes("lines has files of this destination")], [409, true])
})

it("the console adds a destination and changes its credentials, for an owner; a refused form comes back without them", async () => {
  const editor = visitor(cabinet.base, await cabinet.as("editor"))
  const form = { location: "s3://events/form", format: "parquet", from: "now", scope: "all", endpoint: s3.endpoint }
  const keys = { access_key_id: "AKFORM", secret_access_key: "hush-hush" }
  for (const one of [editor, viewer]) {
    assert.notInclude((await one.get("/console/destinations")).text, 'name="location"')
    assert.strictEqual((await one.post("/console/destinations", { ...form, ...keys })).status, 403)
  }
  const refused = async (more: Readonly<Record<string, string>>, field: string, says: RegExp) => {
    const { status, text } = await owner.post("/console/destinations", { ...form, ...keys, ...more })
    assert.strictEqual(status, 400, text)
    const [input = ""] = new RegExp(`<(?:input|select)[^>]* name="${field}"[^>]*>`).exec(text) ?? []
    assert.match(input, /aria-invalid="true"/)
    assert.match(text, says)
    assert.include(text, `value="${more["location"] ?? form.location}"`)
    for (const secret of [...Object.values(keys), "correct-horse"]) assert.notInclude(text, secret)
  }
  await refused({ location: "../up" }, "location", /name 1 is not such a name/)
  await refused({ endpoint: "https://h:99999" }, "endpoint", /not valid from character 11/)
  await refused({ endpoint: "http://10.0.0.1" }, "endpoint", /not_public/)
  await refused({ region: "Mars!" }, "region", /bad_region/)
  await refused({ access_key_id: "", secret_access_key: "" }, "access_key_id", /credentials_needed/)
  await refused({ secret_access_key: "" }, "access_key_id", /credentials of one kind/)
  const stream = { location: "nats://FORM/x", format: "ndjson", endpoint: "nats://127.0.0.1:8,nats://127.0.0.1:9" }
  const none = { access_key_id: "", secret_access_key: "" }
  await refused({ ...stream, ...none, password: "correct-horse" }, "user", /credentials of one kind/)
  await refused({ ...stream }, "user", /A broker has no access keys/)

  assert.strictEqual((await owner.post("/console/destinations", { ...form, ...keys })).status, 303)
  const sent = {
    ...form,
    ...stream,
    from: "beginning",
    scope: "some",
    source: String(cabinet.source.id),
    token: "correct-horse",
  }
  assert.strictEqual((await owner.post("/console/destinations", sent)).status, 303)
  const all = (await owner.manage("GET", "destinations")).json.data as ReadonlyArray<Readonly<Record<string, unknown>>>
  const [bucket, broker] = all.slice(-2)
  const common = { has_credentials: true, failures: 0 }
  assert.deepInclude(bucket!, { ...common, location: form.location, format: "parquet", sources: null, behind: 0 })
  const reached = { endpoint: stream.endpoint, sources: [cabinet.source.id], behind: EVENTS }
  assert.deepInclude(broker!, { ...common, location: stream.location, ...reached })

  const id = String(bucket!["id"])
  const change = `/console/destinations/${id}/change`
  const moved = await owner.post(change, { endpoint: "http://127.0.0.1:9", region: "", url_style: "" })
  assert.deepEqual([moved.status, moved.text.includes("give them again for another endpoint")], [400, true])
  const region = { endpoint: s3.endpoint, region: "eu-west-1", url_style: "path", ...none }
  assert.strictEqual((await editor.post(change, region)).status, 403)
  assert.strictEqual((await owner.post(change, region)).status, 303)
  const changed = (await owner.manage("GET", `destinations/${id}`)).json
  assert.deepInclude(changed, { region: "eu-west-1", url_style: "path", has_credentials: true })
  const page = await owner.get("/console/destinations")
  for (const secret of [...Object.values(keys), "correct-horse"]) assert.notInclude(page.text, secret)
  for (const one of [bucket, broker]) {
    assert.strictEqual((await owner.post(`/console/destinations/${String(one!["id"])}/remove`, {})).status, 303)
  }
})

it("a destination is listed among the followers, is removed with its position, and each act is logged", async () => {
  const listed = (await viewer.manage("GET", "followers")).json.data as ReadonlyArray<{ readonly kind: string }>
  expect(listed.filter(({ kind }) => kind === "destination")).toEqual([
    expect.objectContaining({ name: "lines", behind: 0, paused: false }),
    expect.objectContaining({ name: "paused", behind: EVENTS, paused: true }),
    expect.objectContaining({ name: "s3://events/all", behind: 0 }),
    expect.objectContaining({ name: "tables/all", behind: 0, paused: false }),
  ])
  const [one] = (await viewer.manage("GET", "destinations")).json.data as [{ readonly id: number }]
  assert.strictEqual((await owner.manage("DELETE", `destinations/${one.id}`)).status, 204)
  const gone = await owner.manage("POST", `destinations/${one.id}/resume`)
  assert.deepEqual([gone.status, gone.json.error.code, gone.json.error.param], [404, "no_such_destination", "id"])
  const acts = (await owner.manage("GET", "audit")).json.data as ReadonlyArray<{ readonly action: string }>
  assert.includeMembers(
    acts.map(({ action }) => action),
    ["destination.add", "destination.change", "destination.pause", "destination.remove"],
  )
})
