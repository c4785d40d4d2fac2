/** Commands beside a running server, as a user types them. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { connect } from "node:net"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { Sources } from "@data-cabinet/core/source/Sources"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { requestOf } from "../fault/acceptRequest.ts"
import { testCabinet } from "../support/testCabinet.ts"
import { testDatabase } from "../support/postgres.ts"
import { databaseUrl, runSql, superuser } from "../support/postgresAdmin.ts"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"

let home: Home
let server: ServerProcess

beforeAll(async () => {
  home = newHome()
  server = await home.serve()
})
afterAll(endAll)

const json = async (...args: ReadonlyArray<string>) => {
  const result = await home.cabinet([...args, "--json"])
  expect(result, args.join(" ")).toMatchObject({ code: 0, stderr: "" })
  return JSON.parse(result.stdout) as Record<string, unknown>
}

const post = async (body: string | Buffer<ArrayBuffer>, type: string) => {
  const headers = { "content-type": type }
  const response = await fetch(server.welcome.source!.intake_url, { method: "POST", body, headers })
  return ((await response.json()) as { id: number }).id
}

it("sql creates a view as the author, which rows and the API then show", async () => {
  const script = "CREATE VIEW public.answer AS SELECT 42::numeric AS n; SELECT n * 1.0 AS n FROM public.answer"
  const made = await home.cabinet(["sql", "--json"], {}, script)
  expect(made).toMatchObject({ code: 0, stderr: "" })
  expect(made.stdout).toContain(`{"rows":[{"n":42.0}],"count":1}`)
  expect(await json("rows", "public.answer")).toMatchObject({ data: [{ n: 42 }], has_more: false, next_cursor: null })
  const wrong = await home.cabinet(["sql"], {}, "SELECT * FROM cabinet.api_key")
  expect(wrong).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/permission denied for schema/i) })
})

it("event show decodes the request in its charset", async () => {
  const windows1251 = Buffer.from([0x6e, 0x3d, 0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2])
  const id = await post(windows1251, "application/x-www-form-urlencoded")
  expect(await json("event", String(id))).toMatchObject({
    event: { id, payload: { n: "Привет" } },
    original: {
      body: "n=Привет",
      body_base64: windows1251.toString("base64"),
      body_bytes: 8,
      truncated: false,
      encoding: { name: "windows-1251", decided_by: "data", replaced: 0 },
    },
    row: { _event_id: id, n: "Привет" },
    row_waits: false,
    row_set_aside: null,
    deliveries: [],
  })
  await post('{"another":1}', "application/json")
  const { stdout } = await home.cabinet(["event", "show", String(id)])
  expect(stdout).toMatch(/\nEncoding +windows-1251 \(detected from the bytes\), 0 characters replaced\n/)
  expect(stdout).toMatch(/\n_event_id +\d+\n_received_at [^\n]+\nn +Привет\n\nDeliveries\n/)
})

it("event list --follow prints new events as they arrive, until the reader closes the pipe", async () => {
  const follower = home.start(["event", "list", "--follow", "--json"])
  const lines: Array<string> = []
  follower.stdout!.on("data", (chunk: Buffer) => lines.push(...chunk.toString().trim().split("\n")))
  await once(follower.stdout!, "data")
  const id = await post(`{"late": true}`, "application/json")
  while (!lines.some((line) => (JSON.parse(line) as { id: number }).id === id)) await once(follower.stdout!, "data")
  const exit = once(follower, "exit")
  follower.kill("SIGINT")
  expect((await exit)[0]).toBe(0)
})

it("event list --follow continues once its database is back", async () => {
  const database = await testDatabase()
  const store = testCabinet(database.url)
  try {
    const create = () => store.runPromise(Sources.use((sources) => sources.create({ name: "S" })))
    const { id } = await vi.waitFor(create, 100_000)
    const accept = (body: string) =>
      store.runPromise(EventLog.use((log) => appendEvents(log, requestOf(id, body, false))))
    await accept("before")
    const follower = home.start(["event", "list", "--follow", "--json"], { DATABASE_URL: database.url })
    const said = { out: "", err: "" }
    follower.stdout!.on("data", (chunk: Buffer) => (said.out += chunk.toString()))
    follower.stderr!.on("data", (chunk: Buffer) => (said.err += chunk.toString()))
    const until = (word: RegExp, face: "out" | "err") => vi.waitFor(() => expect(said[face]).toMatch(word), 100_000)
    await until(/"before"/, "out")
    const asAdmin = (statement: string) => runSql(databaseUrl(database.socketDir, superuser, "postgres"), statement)
    await asAdmin(`ALTER DATABASE ${database.name} WITH ALLOW_CONNECTIONS false`)
    await asAdmin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database.name}'`)
    await until(/Waiting until it/, "err")
    await asAdmin(`ALTER DATABASE ${database.name} WITH ALLOW_CONNECTIONS true`)
    await vi.waitFor(() => accept("after"), 100_000)
    await until(/"before"[^]*"after"/, "out")
    const exit = once(follower, "exit")
    follower.kill("SIGINT")
    expect((await exit)[0]).toBe(0)
  } finally {
    await store.dispose()
    await database.drop()
  }
})

it("address add reads a secret URL from standard input, where no process list shows it", async () => {
  const add = ["address", "add", "--url-file", "-", "--allowed-networks", "127.0.0.0/8", "--get", "url"]
  const added = await home.cabinet(add, {}, "http://127.0.0.1:9/services/hush\n")
  expect(added).toMatchObject({ code: 0, stdout: "http://127.0.0.1:9/services/hush\n", stderr: "" })
  // Single headers change without knowing the values of the others.
  const set = (flags: ReadonlyArray<string>, input = "") =>
    home.cabinet(["address", "set", "http://127.0.0.1:9/services/hush", ...flags, "--get", "header_names"], {}, input)
  expect(await set(["--headers-file", "-"], "X-One: hush\n")).toMatchObject({ code: 0 })
  const two = await set(["--set-headers-file", "-"], "X-Two: hush\nx-one: more\n")
  expect(two).toMatchObject({ code: 0, stdout: expect.stringMatching(/x-one[^]*X-Two/), stderr: "" })
  const removed = await set(["--remove-header", "X-ONE"])
  expect(removed).toMatchObject({ code: 0, stdout: expect.not.stringMatching(/x-one/i) })
  expect(removed.stdout).toContain("X-Two")
  expect(await set(["--set-headers-file", "-"], "hush\n")).toMatchObject({
    code: 2,
    stderr: "--set-headers-file: line 1 does not have the form 'Name: value'.\n",
  })
  expect(await set(["--headers-file", "-", "--remove-header", "X-Two"])).toMatchObject({ code: 2 })
  const both = await home.cabinet(
    ["poll", "add", "1", "--url-file", "-", "--headers-file", "-"],
    {},
    "http://127.0.0.1/",
  )
  expect(both).toMatchObject({ code: 2, stderr: expect.stringMatching(/cannot supply both/) })
})

it("doctor reports a healthy cabinet as such", async () => {
  expect(await json("doctor")).toMatchObject({ ok: true, database: { deferred_rows: 0, fence_holders: [] } })
})

it("source show says what a source lacks for the well-known sender of its latest request", async () => {
  const headers = { "content-type": "application/json", "user-agent": "GitHub-Hookshot/044aadd" }
  await fetch(server.welcome.source!.intake_url, { method: "POST", headers, body: '{"action":"opened"}' })
  const { stdout } = await home.cabinet(["source", "show", "1"])
  expect(stdout).toMatch(/^Sender +GitHub, whose headers .*cabinet source set 1 --from github/m)
})

it("a closed output pipe is not an error", async () => {
  const pipe = spawn("sh", ["-c", `"$@" | head -c 5`, "sh", ...home.commandLine(["event", "list", "--json"])], {
    env: home.environment({}),
  })
  let stderr = ""
  pipe.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
  await once(pipe, "close")
  expect(stderr).toBe("")
})

it("serve ends immediately at the second signal, although a request is in flight", async () => {
  const { port } = new URL(server.baseUrl)
  const slow = connect(Number(port), "127.0.0.1")
  slow.on("error", () => {})
  slow.write(
    `POST ${server.welcome.source!.intake_path} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`,
  )
  // The server has the request once it asks for the body.
  await once(slow, "data")
  slow.write("half")
  const stopped = server.stop("SIGINT")
  const stopping = async () => {
    while (!server.log().includes("stopping")) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await stopping()
  // A signal that follows at once counts as the same one, so this waits.
  await new Promise((resolve) => setTimeout(resolve, 700))
  process.kill(server.pid, "SIGINT")
  expect(await stopped).toBe(130)
  slow.destroy()
})
