/**
 * `--server`: every command prints the same for a cabinet in another process as for a local database, byte for byte,
 * including refusals. A command that is not listed here fails.
 */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import { afterAll, assert, beforeAll, expect, it, vi } from "vitest"
import { endAll, newHome, type ServerProcess } from "../../../../test/support/cabinetProcess.ts"
import { Authority } from "../../../../test/support/certificates.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { ARGUMENTS, OF_THE_SERVER } from "./arguments.ts"
import { call, leaves } from "./call.ts"

const database = withDatabase()
const destinations = mkdtempSync(join(tmpdir(), "dc-destinations-"))
const NETWORKS = { CABINET_ALLOWED_NETWORKS: "127.0.0.0/8", CABINET_DESTINATION_ROOT: destinations }
let dir: string
let server: ServerProcess
let receiver: Server
let elsewhere: string

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "dc-remote-"))
  for (const [name, value] of Object.entries({
    DATABASE_URL: database.url,
    BASE_URL: "",
    CABINET_TOKEN: "",
    ...NETWORKS,
  })) {
    vi.stubEnv(name, value)
  }
  receiver = createServer((request, response) => {
    request.resume()
    response.end("[]")
  })
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
  elsewhere = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/in?secret=1`
  server = await newHome().serve([], { DATABASE_URL: database.url, ...NETWORKS })
  vi.stubEnv("BASE_URL", server.baseUrl)
  vi.stubEnv("CABINET_TOKEN", (await call(["token", "add", "me", "--role", "owner", "--get", "token"])).printed.trim())
})
afterAll(async () => {
  await endAll()
  receiver.close()
  vi.unstubAllEnvs()
  for (const one of [dir, destinations]) rmSync(one, { recursive: true })
})

const local = (words: ReadonlyArray<string>) => call([...words, "--json"])
const remote = (words: ReadonlyArray<string>, url = server.baseUrl) => call([...words, "--json", "--server", url])

const made = async (...words: ReadonlyArray<string>) => {
  const { code, printed, said } = await local(words)
  assert.strictEqual(code, 0, said)
  return JSON.parse(printed) as { readonly id: number; readonly intake_url: string }
}

const send = async (
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  type = "application/x-www-form-urlencoded",
) => {
  const response = await fetch(url, { method: "POST", body, headers: { "content-type": type } })
  assert.strictEqual(response.status, 200)
}

/** Two of each kind: what can be done only once is done to one locally and to the other over the server. */
const two = async (...words: ReadonlyArray<string>) => [await made(...words), await made(...words)] as const

/** Fields that differ from one run to the next; for some, even whether they have a value. */
type Fresh = ReadonlyArray<string>
const masked = (text: string, fresh: Fresh): unknown =>
  JSON.parse(text, (key, value: unknown) => (fresh.includes(key) ? "fresh" : value))

/** The local and remote arguments, and the fields that have to differ. */
interface Placed {
  readonly here: ReadonlyArray<string>
  readonly there?: ReadonlyArray<string>
  readonly fresh?: Fresh
  readonly code?: number
}

const ISSUED = ["id", "created_at", "prefix", "key", "token", "name"]
const SOURCE = ["id", "created_at", "intake_url", "intake_path", "rows_url", "name"]
const ADDRESS = ["id", "created_at", "secret", "paused_at", "until"]
/** The server writes to a destination between the two calls. */
const DESTINATION = ["created_at", "event_id", "moved_at", "behind", "behind_seconds", "failures", "error", "retry_at"]
const PERSON = ["id", "name", "created_at", "link", "link_expires_at"]
const PING = ["delivery_id", "duration_ms", "timing"]

/** By one flag with several names, and by several flags. */
const KEEPING = [
  "--keep-headers",
  "Sec-*, X-Id",
  "--header-fields",
  "Topic",
  "--header-fields",
  "X-Id",
  "--keep-query",
  "off",
  "--challenge",
  "graph",
  "--proof",
  "altcha",
  "--honeypot",
  "website",
  "--allow-origin",
  "https://a.example.com,https://B.example.com/",
]

const HERE_ONLY = [
  "serve",
  "worker",
  "migrate",
  "backup",
  "restore",
  "sql",
  "tenant add",
  "tenant list",
  "tenant move",
  "tenant remove",
  "console",
  "cold verify",
  "cold thaw",
]

/** The requests that `mcp` reads from standard input. */
const ASKED = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_tables" } })}\n`

const firstRuns = async () =>
  (JSON.parse((await local(["poll", "list"])).printed) as ReadonlyArray<{ readonly first_at: string | null }>).map(
    (poll) => poll.first_at,
  )

const seed = async () => {
  const orders = await made("source", "add", "Orders", "--keep-headers", "Sec-*,Accept-Encoding", "--keep-query", "on")
  await send(orders.intake_url, "name=Ada&total=12.50&number=1234567890123456789012345")
  await send(orders.intake_url, "name=%C3%A9t%C3%A9&total=2")
  await send(orders.intake_url, Buffer.from([0x6e, 0x3d, 0xcf, 0xf0, 0xe8]))
  await send(orders.intake_url, '{"a":[1,{"b":1.10}],"c":"\\u0000x"}', "application/json")
  await send(orders.intake_url, "name=Bob&total=3")
  const [one, other] = [await made("source", "add", "Others"), await made("source", "add", "More")]
  const address = await made("address", "add", elsewhere, "--source", "Orders")
  await made("address", "ping", String(address.id))
  await send(orders.intake_url, "name=Late&total=4")
  await send(orders.intake_url, "name=Gone&total=5")
  await send(orders.intake_url, "name=Lost&total=6")
  // Two columns without a value.
  const spare = await made("source", "add", "Spare")
  await send(spare.intake_url, "spare=1&extra=1")
  await made("event", "trash", "Spare", "9")
  const [deliveries] = [await local(["event", "show", "6"])]
  const delivery = String(
    (JSON.parse(deliveries.printed) as { readonly deliveries: ReadonlyArray<{ readonly id: number }> }).deliveries[0]!
      .id,
  )
  const removable = await two("address", "add", elsewhere)
  const poll = String((await made("poll", "add", "Orders", elsewhere, "--every", "1d")).id)
  const goners = await two("poll", "add", "Orders", elsewhere, "--every", "1d")
  // The server runs each poll as soon as it exists; the comparison starts after those runs.
  await expect.poll(firstRuns).not.toContain(null)
  await made("key", "add", "reader")
  await made("token", "add", "loader")
  return { one, other, address: String(address.id), delivery, removable, poll, goners }
}

const placements = async (): Promise<Readonly<Record<string, Placed>>> => {
  const { one, other, address, delivery, removable, poll, goners } = await seed()
  const [rows, more] = [join(dir, "rows.csv"), join(dir, "more.csv")]
  writeFileSync(rows, "name,total\nCid,5.50\nDan,6\n")
  writeFileSync(more, "name,total\nEve,7.50\nFay,8\n")
  const range = ["--from", "2026-01-01T00:00:00Z", "--to", "2026-01-02T00:00:00Z"]
  return {
    "source list": { here: [] },
    "cold status": { here: [] },
    apply: { here: [...ARGUMENTS["apply"]!, "--dry-run"] },
    "export-config": { here: [] },
    "source show": { here: ["Orders"] },
    "source set": {
      here: ["1", "--encoding", "utf-8", "--thanks-url", "https://example.com/thanks", "--rate", "600", ...KEEPING],
    },
    "source shape": { here: ["Orders"] },
    "source schema": { here: ["Orders"] },
    types: { here: ["Orders"] },
    asyncapi: { here: [] },
    "source rename": {
      here: [String(one.id), "First"],
      there: [String(other.id), "Second"],
      fresh: [...SOURCE, "table"],
    },
    "source archive": { here: ["1"] },
    "source restore": { here: ["1"] },
    "source rotate-secret": {
      here: [String(one.id), "--keep-old", "24h"],
      fresh: ["intake_url", "intake_path", "old_secret_until"],
    },
    "source add": { here: ["Third"], there: ["Fourth"], fresh: SOURCE },
    "source delete": {
      here: [String(one.id), "--keep-table", "--yes"],
      there: [String(other.id), "--yes"],
      fresh: ["id"],
    },
    "key add": { here: ["k", "--expires", "30d"], fresh: [...ISSUED, "expires_at"] },
    "key list": { here: ["--limit", "1001"] },
    "key rotate": { here: ["3"], there: ["4"], fresh: [...ISSUED, "expires_at"] },
    "key revoke": { here: ["reader"], there: ["2"] },
    "token add": { here: ["t", "--role", "viewer"], fresh: ISSUED },
    // Its use is recorded by the minute, and a remote call is one use.
    "token list": { here: ["--limit", "1001"], fresh: ["last_used_at"] },
    "token revoke": { here: ["2"] },
    "address add": { here: [elsewhere, "--source", "1"], fresh: ADDRESS },
    "address list": { here: ["--limit", "1001"] },
    "address show": { here: [address] },
    "address set": {
      here: [
        address,
        "--all-sources",
        "--where",
        "total>=1",
        "--where",
        "name is not empty",
        "--rate",
        "20",
        "--timeout",
        "7",
        "--give-up-after",
        "7d",
        "--pause-on-gone",
        "on",
        "--remove-header",
        "X-None",
        "--remove-client-certificate",
      ],
    },
    "address test": { here: [address, "--event", "1"] },
    "address preview": { here: [address, "--event", "1"] },
    "address pause": { here: [address], fresh: ADDRESS },
    "address resume": { here: [address] },
    "address skip": { here: [address, "--event", "1", "--reason", "poison"], code: 1 },
    "address ping": { here: [address], fresh: PING },
    "address log": { here: [elsewhere.replace("secret=1", "secret=2"), "--limit", "10"], code: 1 },
    "address resend": { here: [address, ...range] },
    "address rotate-secret": { here: [address], fresh: ["secret", "until"] },
    "address remove": {
      here: [String(removable[0].id), "--yes"],
      there: [String(removable[1].id), "--yes"],
      fresh: ["id"],
    },
    "delivery list": {
      here: ["--address", address, "--limit", "1"],
      fresh: ["id", "event_id", "state", "attempts", "created_at", "due_at", "next_cursor", "searched_to"],
    },
    "delivery show": { here: [delivery], fresh: ["state", "attempts", "last_attempt", "due_at"] },
    // The server may have made the attempt before the response is read.
    "delivery resend": { here: [delivery], fresh: ["state", "due_at", "attempts", "last_attempt"] },
    "delivery cancel": { here: [delivery], fresh: ["state", "attempts", "last_attempt", "due_at"] },
    "destination add": { here: ["events"], there: ["others"], fresh: [...DESTINATION, "id", "location", "tag"] },
    "destination list": { here: [], fresh: DESTINATION },
    "destination pause": { here: ["events"], fresh: DESTINATION },
    "destination resume": { here: ["events"], fresh: DESTINATION },
    "destination set": { here: ["events", "--region", "eu-west-1"], code: 1 },
    "destination restart": { here: ["987654", "--yes"], code: 1 },
    "destination remove": { here: ["events", "--yes"], there: ["others", "--yes"], fresh: ["id"] },
    "poll add": { here: ["1", elsewhere, "--every", "1d"], fresh: ["id", "created_at", "due_at"] },
    "poll list": { here: [], fresh: ["due_at", "first_at", "failures"] },
    // While the poll is paused, only these calls run it, and nothing becomes due meanwhile.
    "poll pause": { here: [poll], fresh: ["first_at"] },
    "poll run": { here: [poll], fresh: ["id", "at", "duration_ms", "next_at"] },
    "poll log": { here: [poll] },
    "poll set": { here: [poll, "--every", "2d"], fresh: ["due_at", "first_at"] },
    "poll resume": { here: [poll], fresh: ["due_at", "first_at"] },
    "poll remove": { here: [String(goners[0].id), "--yes"], there: [String(goners[1].id), "--yes"], fresh: ["id"] },
    listen: {
      here: ["Orders", "--forward-to", elsewhere, "--resend", "2"],
      fresh: ["secret", "at", "duration_ms", "timing"],
    },
    import: { here: ["Orders", rows], there: ["Orders", more], fresh: ["import_id", "file", "preview"] },
    "import list": { here: [] },
    "import show": { here: ["2"] },
    // Both calls name the same import, which is undone once.
    "import undo": { here: ["2"] },
    "import cancel": { here: ["2"], code: 1 },
    "inbox list": { here: ["Orders", "--limit", "2"], fresh: ["next_cursor"] },
    "inbox show": { here: ["Orders", "1"] },
    "inbox read": { here: ["Orders", "1"], there: ["Orders", "2"] },
    "inbox unread": { here: ["Orders", "1"], there: ["Orders", "2"] },
    "inbox done": { here: ["Orders", "1"], there: ["Orders", "2"] },
    "inbox undone": { here: ["Orders", "1"], there: ["Orders", "2"] },
    "event list": { here: ["--source", "Orders", "--limit", "3"] },
    "event show": { here: ["2"] },
    "event trash": { here: ["Orders", "1"], there: ["Orders", "2"] },
    "event restore": { here: ["Orders", "1"], there: ["Orders", "2"] },
    "event verify": { here: ["1", "2", "--deliver"] },
    "event reread": { here: ["1", "2", "--encoding", "koi8-r", "--dry-run"] },
    "event purge": { here: ["--where", "total is not empty", "--source", "Orders", "--dry-run"] },
    rows: { here: ["sources.orders", "--where", "total>=1", "--limit", "2"] },
    export: { here: ["sources.orders", "--to", join(dir, "orders.csv"), "--sort", "_event_id"], fresh: ["snapshot"] },
    // Autovacuum may update its estimate between the two calls.
    "table list": { here: [], fresh: ["rows_estimate"] },
    "table show": { here: ["sources.orders"], fresh: ["rows_estimate"] },
    "table column": { here: ["Orders", "total", "--label", "Sum"] },
    "table column drop": { here: ["Spare", "spare"], there: ["Spare", "extra"], fresh: ["dropped"] },
    "table index": { here: ["sources.orders", "total"], fresh: ["built"] },
    "table latest": {
      here: ["sources.orders", "--key", "name", "--as", "public.latest_here"],
      there: ["sources.orders", "--key", "name", "--as", "public.latest_there"],
      fresh: ["view", "sql"],
    },
    "table search-index": { here: ["sources.orders"], fresh: ["built"] },
    "table rebuild": { here: ["Orders", "--dry-run"] },
    mcp: { here: [] },
    // The test's database listens on no port, which both report.
    "database url": { here: [], code: 1 },
    "schema add": { here: ["shop"], there: ["stall"], fresh: ["schema"] },
    "schema expose": { here: ["public"] },
    "schema hide": { here: ["public"] },
    "person add": { here: ["Ada", "--role", "editor"], there: ["Bob", "--role", "editor"], fresh: PERSON },
    "person list": { here: [] },
    "person set": { here: ["Ada", "--role", "viewer"], there: ["Bob", "--role", "viewer"], fresh: PERSON },
    "person sign-out": { here: ["Ada"] },
    "person remove": { here: ["Ada"], there: ["Bob"], fresh: PERSON },
    audit: { here: ["--limit", "1200"] },
    "notices on": { here: [] },
    "notices show": { here: [] },
    "notices off": { here: [] },
    // Whatever happens between the two calls is counted in the second.
    overview: {
      here: [],
      fresh: ["delivery_hours", "deliveries", "waiting", "counted_until", "silence", "hours", "days", "last_at"],
    },
    // The server continues its work between the two calls.
    "follower reset": { here: ["1"], code: 1 },
    "follower remove": { here: ["1"], code: 1 },
    "follower list": { here: [], fresh: ["event_id", "moved_at", "behind", "behind_seconds", "holder"] },
    doctor: {
      here: [],
      fresh: [
        "findings",
        "connection",
        "clock_skew_millis",
        "connections",
        "longest_transaction_seconds",
        "sizes",
        "database_bytes",
        "cabinet_bytes",
        "fence_holders",
        "followers",
        "due",
        "retrying",
        "oldest_due_seconds",
      ],
    },
  }
}

it("every command prints the same over a cabinet's server as over its database", { timeout: 600_000 }, async () => {
  const all = await placements()
  vi.spyOn(process, "stdin", "get").mockImplementation(() => Readable.from([ASKED]) as typeof process.stdin)
  expect([...Object.keys(all), ...HERE_ONLY].sort()).toEqual([...leaves].sort())
  for (const [name, { here, there = here, fresh = [], code = 0 }] of Object.entries(all)) {
    const mine = await local([...name.split(" "), ...here])
    const its = await remote([...name.split(" "), ...there])
    expect([name, mine.code, mine.said], name).toEqual([name, code, its.said])
    expect([name, its.code, mine.said], name).toEqual([name, code, its.said])
    if (fresh.length === 0) expect(its.printed, name).toBe(mine.printed)
    else {
      expect(masked(its.printed, fresh), name).toEqual(masked(mine.printed, fresh))
      expect(Object.keys(JSON.parse(its.printed) as object), name).toEqual(
        Object.keys(JSON.parse(mine.printed) as object),
      )
    }
  }
})

it("events and rows keep every digit and byte over --server", async () => {
  for (const event of ["1", "2", "3", "4", "5", "6"]) {
    const words = ["event", "show", event]
    const [mine, its] = [await local(words), await remote(words)]
    expect(its, event).toEqual(mine)
  }
  expect((await remote(["rows", "sources.orders", "--search", "Ada"])).printed).toContain("1234567890123456789012345")
  // Text for people is the same as well.
  for (const words of [
    ["event", "show", "4"],
    ["event", "list"],
    ["event", "list", "--tail", "2"],
    ["event", "list", "--since", "1h", "--source", "Orders"],
    ["event", "list", "--from-now"],
    ["rows", "sources.orders"],
    ["table", "list"],
  ]) {
    expect(await call([...words, "--server", server.baseUrl])).toEqual(await call(words))
  }
})

it("a client certificate is set and shown over --server as locally, and its key never is", async () => {
  const authority = new Authority("clients")
  const { cert, key } = authority.issue("cabinet")
  authority.remove()
  // One file may contain both.
  const file = join(dir, "client.pem")
  writeFileSync(file, `${key}${cert}`)
  const certificate = ["--client-certificate-file", file, "--client-key-file", file]
  const words = ["address", "add", elsewhere.replace("http:", "https:"), "--source", "Orders", ...certificate]
  const [mine, its] = [await local(words), await remote(words)]
  expect(masked(its.printed, ADDRESS)).toEqual(masked(mine.printed, ADDRESS))
  const { id, client_certificate: shown } = JSON.parse(its.printed) as {
    readonly id: number
    client_certificate: object
  }
  expect(shown).toMatchObject({ subject: "CN=cabinet", issuer: "CN=clients" })
  const card = ["address", "show", String(id)]
  expect(await call([...card, "--server", server.baseUrl])).toEqual(await call(card))
  for (const moving of [
    ["address", "set", String(id), "--url", elsewhere],
    ["address", "set", String(id), "--url", elsewhere, ...certificate],
  ]) {
    const refused = await local(moving)
    expect([refused.code, refused.said]).toEqual([1, expect.stringMatching(/client certificate/)])
    expect(await remote(moving)).toEqual(refused)
  }
  const told = [mine, its, await remote(card), await local(["address", "list"]), await call(card)]
  expect(JSON.stringify(told)).not.toContain(key.split("\n")[1])
})

it.each([
  ["source", "show", "999"],
  ["source", "show", "Nobody"],
  ["source", "add", ""],
  ["source", "add", "x".repeat(201)],
  ["source", "set", "1", "--thanks-url", "ftp://x"],
  ["source", "set", "1", "--keep-headers", "X-*"],
  ["source", "set", "1", "--header-fields", "Topic,Cookie"],
  ["key", "add", " "],
  ["key", "revoke", "999"],
  ["token", "revoke", "999"],
  ["address", "add", "ftp://example.com"],
  ["address", "add", "http://10.0.0.1/"],
  ["address", "set", "1", "--client-certificate-file", import.meta.filename, "--client-key-file", import.meta.filename],
  ["address", "show", "999"],
  ["address", "set", "1", "--where", "total>1e99999999999999999999"],
  ["address", "test", "1", "--event", "999999"],
  ["address", "log", "999"],
  ["address", "resend", "1", "--from", "yesterday", "--to", "today"],
  ["delivery", "show", "999999"],
  ["poll", "add", "1", "https://example.com", "--pointer", "nonsense"],
  ["poll", "run", "999"],
  ["poll", "add", "1", "http://10.0.0.1/", "--dry-run"],
  ["poll", "set", "999", "--dry-run"],
  ["event", "show", "999999"],
  ["event", "list", "--limit", "0"],
  ["event", "list", "--cursor", "nonsense"],
  ["event", "trash", "1", "999999"],
  ["event", "purge", "999999", "--yes"],
  ["rows", "sources.nothing"],
  ["rows", "sources.orders", "--where", "nothing=1"],
  ["rows", "sources.orders", "--limit", "5000"],
  ["rows", "sources.orders", "--fc", "_event_id", "--fo", "eq", "--fv", "many"],
  ["table", "show", "sources.nothing"],
  ["table", "column", "1", "nothing", "--label", "x"],
  ["table", "column", "1", "total", "--label", ""],
  ["table", "column", "1", "total", "--type", "date", "--numbers", "dot"],
  ["table", "column", "drop", "1", "nothing"],
  ["table", "column", "drop", "1", "name"],
  ["table", "column", "drop", "1", "_event_id"],
  ["table", "index", "sources.nothing", "total"],
  ["table", "latest", "sources.nothing", "--key", "total"],
  ["table", "latest", "sources.orders", "--key", "nothing"],
  ["table", "latest", "sources.orders", "--key", "name", "--as", "sources.orders"],
  ["table", "latest", "sources.orders", "--key", "name", "--as", "cabinet.latest"],
  ["table", "search-index", "sources.nothing"],
  ["table", "search-index", "sources.nothing", "--list"],
  ["event", "verify", "--source", "Orders", "--dry-run"],
  ["event", "reread", "1", "--encoding", "klingon"],
  ["event", "reread", "999", "--encoding", "koi8-r"],
  ["schema", "expose", "cabinet"],
  ["schema", "add", "cabinet_search"],
  ["schema", "add", "public"],
  ["schema", "add", "sources"],
  ["schema", "expose", "nothing"],
  ["person", "add", " "],
  ["person", "remove", "Nobody"],
  ["person", "set", "999", "--role", "viewer"],
  ["import", "show", "999"],
  ["import", "cancel", "999"],
  ["import", "undo", "999"],
  ["import", "undo", "999", "--dry-run"],
  ["import", "999", import.meta.filename],
  ["import", "1", "/nothing.csv"],
  ["import", "1", import.meta.filename, "--format", "xlsx"],
])("%s %s %s … is refused in the same words with the same exit code", async (...words) => {
  const mine = await local(words)
  expect(mine.code).toBe(1)
  expect(await remote(words)).toEqual(mine)
})

it.each(HERE_ONLY)("%s concerns the cabinet's own machine, and refuses --server", async (name) => {
  const rest = ARGUMENTS[name] ?? OF_THE_SERVER[name] ?? []
  const { code, said, printed } = await call([...name.split(" "), ...rest, "--server", "https://data.example.com"])
  expect([code, said, printed]).toEqual([
    2,
    "This command works on the machine of the cabinet itself: leave --server out.\n",
    "",
  ])
})

it.each([
  [
    "source",
    "INSERT INTO cabinet.source (name, intake_secret, secret_hash) SELECT 'Source ' || n, n, sha256(n::text::bytea)",
  ],
  [
    "poll",
    "INSERT INTO cabinet.poll (source_id, url, every_seconds, paused_at) SELECT 1, 'https://example.com', 60, now()",
  ],
  ["person", "INSERT INTO cabinet.person (name, role) SELECT 'Person ' || n, 'viewer'"],
])("%s list prints all of a long list, of which a server returns a page at a time", async (noun, insert) => {
  await database.run(`${insert} FROM generate_series(1, 1001) n`)
  const { printed } = await remote([noun, "list"])
  expect((JSON.parse(printed) as ReadonlyArray<unknown>).length).toBeGreaterThan(1000)
  expect(printed).toBe((await local([noun, "list"])).printed)
})

it("a wrong, revoked, insufficient or missing token is refused without showing it", async () => {
  const issue = async (role: string) =>
    JSON.parse((await local(["token", "add", role, "--role", role])).printed) as { id: number; token: string }
  const [revoked, viewer] = [await issue("owner"), await issue("viewer")]
  await local(["token", "revoke", String(revoked.id)])
  for (const token of [`dco_${"A".repeat(43)}`, revoked.token]) {
    vi.stubEnv("CABINET_TOKEN", token)
    const { code, said } = await remote(["source", "list"])
    expect([code, said]).toEqual([
      1,
      "The server refused the access token: it is wrong, expired or was revoked. Set CABINET_TOKEN to one that is valid.\n",
    ])
    expect((await remote(["import", "1", import.meta.filename])).said).toBe(said)
  }
  vi.stubEnv("CABINET_TOKEN", viewer.token)
  expect((await remote(["source", "list"])).code).toBe(0)
  expect(await remote(["source", "add", "Mine"])).toMatchObject({
    code: 1,
    said: "This needs the role editor; yours is viewer.\n",
  })
  vi.stubEnv("CABINET_TOKEN", "")
  const none = await remote(["source", "list"])
  expect(none).toMatchObject({ code: 2 })
  expect(none.said).toMatch(/^A remote cabinet needs an access token: set CABINET_TOKEN, or CABINET_TOKEN_FILE /)
  const file = join(dir, "token")
  writeFileSync(file, `${viewer.token}\n`)
  vi.stubEnv("CABINET_TOKEN_FILE", file)
  expect((await remote(["source", "list"])).code).toBe(0)
  vi.stubEnv("CABINET_TOKEN", viewer.token)
  expect((await remote(["source", "list"])).said).toBe("Set CABINET_TOKEN or CABINET_TOKEN_FILE, not both.\n")
  vi.stubEnv("CABINET_TOKEN_FILE", "")
  vi.stubEnv("CABINET_TOKEN", "two words\u00e9")
  expect((await remote(["source", "list"])).said).toBe("CABINET_TOKEN is not an access token.\n")
})

it("a server that is unreachable, not a cabinet, or redirecting is reported", async () => {
  vi.stubEnv("CABINET_TOKEN", "dco_x")
  const away = await remote(["source", "list"], "http://127.0.0.1:9")
  expect(away.code).toBe(1)
  expect(away.said).toMatch(/^The server at http:\/\/127\.0\.0\.1:9 cannot be reached \(.*ECONNREFUSED.*\)\.\n$/)
  const at = new URL(elsewhere).origin
  expect((await remote(["source", "list"], at)).said).toMatch(/^(There is no cabinet at|The server at) http:\/\/127/)
  const moved = createServer((_, response) => response.writeHead(302, { location: "https://data.example.com/x" }).end())
  await new Promise<void>((resolve) => moved.listen(0, "127.0.0.1", resolve))
  const place = `http://127.0.0.1:${(moved.address() as AddressInfo).port}`
  expect((await remote(["source", "list"], place)).said).toContain("it redirects to https://data.example.com")
  moved.close()
  for (const bad of ["data.example.com", "ftp://x", "https://me:pw@x", "https://x?a=1"]) {
    const { code, said } = await remote(["source", "list"], bad)
    expect([code, said.startsWith("--server must be ")]).toEqual([2, true])
    expect(said).not.toContain("pw")
  }
})

it.each([
  ["source", "list", "--database-url", "postgres://x"],
  ["source", "list", "--data-dir", "x"],
  ["source", "show", "1", "--base-url", "https://x"],
  ["rows", "a.b", "--time-zone", "UTC"],
  ["source", "list", "--cabinet", "shop"],
])("%s %s … %s is refused together with --server", async (...words) => {
  const { code, said } = await remote(words)
  expect(code).toBe(2)
  expect(said).toMatch(
    /^(--[a-z-]+ is a setting of the cabinet's own machine: leave it out with --server|With --server a cabinet is named by its address.*: leave --cabinet out)\.\n$/,
  )
})

it("--curl prints the request and sends nothing", async () => {
  vi.stubEnv("CABINET_TOKEN", "")
  const shown = async (...words: ReadonlyArray<string>) =>
    (await call([...words, "--server", "https://data.example.com/x/", "--curl"])).printed
  const AUTH = '-H "Authorization: Bearer $CABINET_TOKEN"'
  expect(await shown("source", "list")).toBe(`curl ${AUTH} 'https://data.example.com/x/manage/v1/sources?limit=1000'\n`)
  expect(await shown("source", "add", "It's")).toBe(
    `curl ${AUTH} -H 'Content-Type: application/json' -d '{"name":"It'\\''s"}' https://data.example.com/x/manage/v1/sources\n`,
  )
  expect(await shown("source", "delete", "7", "--drop-table", "--yes")).toBe(
    `curl -X DELETE ${AUTH} 'https://data.example.com/x/manage/v1/sources/7?table=drop'\n`,
  )
  expect(await shown("import", "7", import.meta.filename, "--dry-run")).toMatch(
    /^curl -H .* -F dry_run=true .*-F file=@\S*Remote\.test\.ts https:\/\/data\.example\.com\/x\/upload\/7\n$/,
  )
  expect(await call(["source", "list", "--curl"])).toMatchObject({
    code: 2,
    said: "--curl shows a request to a server: give --server URL.\n",
  })
})
