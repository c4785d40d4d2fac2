/**
 * Earlier versions, built from their commits, whose data this version takes over: their data directory, and their database
 * beside their server under load. A trial, which needs the clone's history.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { otherVersions } from "../support/describedResponses.ts"
import { withDatabase } from "../support/postgres.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))
const ENV = { CABINET_INTAKE_RATE: "0", CABINET_API_RATE: "1000000", CABINET_ALLOWED_NETWORKS: "127.0.0.0/8" }

/** Builds the version of a commit in a folder, and returns its program. */
const build = (commit: string, folder: string): string => {
  const archive = execFileSync("git", ["archive", "--format=tar", commit], { cwd: ROOT, maxBuffer: 2 ** 30 })
  execFileSync("tar", ["-x"], { cwd: folder, input: archive })
  for (const args of [["scripts/prepare-only.mjs"], ["scripts/start.mjs", "--help"]]) {
    execFileSync(process.execPath, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] })
  }
  return join(folder, "packages", "cli", "bin", "cabinet.mjs")
}

/** Starts a server of an earlier version. */
const serveEarlier = async (home: Home, env: Record<string, string>): Promise<ServerProcess> => {
  const server = await home.serve([], env)
  otherVersions.add(server.baseUrl)
  return server
}

const output = async (home: Home, args: ReadonlyArray<string>, env: Record<string, string>): Promise<string> => {
  const { code, stdout, stderr } = await home.cabinet(args, env)
  if (code !== 0) throw new Error(`cabinet ${args.join(" ")}: ${stderr}`)
  return stdout.trim()
}

interface Page {
  readonly data: ReadonlyArray<{
    readonly payload: { readonly id: string }
    readonly repeat_of: number | null
    readonly deleted_at: string | null
  }>
  readonly has_more: boolean
  readonly next_cursor: string
}

/** Every page of a path, as sent but for its cursor, and the last cursor. */
const walk = async (server: ServerProcess, key: string, path: string, after = "") => {
  const pages: Array<string> = []
  const items: Array<Page["data"][number]> = []
  for (let cursor = after; ;) {
    const at = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`
    const response = await fetch(`${server.baseUrl}/api/v1/${path}?limit=100${at}`, { headers: { "x-api-key": key } })
    const text = await response.text()
    expect(response.status, text).toBe(200)
    const page = JSON.parse(text) as Page
    pages.push(text.replace(/"next_cursor":(?:null|"[^"]*")/, ""))
    items.push(...page.data)
    cursor = page.next_cursor
    if (!page.has_more) return { pages, items, cursor }
  }
}

const JSON_TYPE = { "content-type": "application/json" }

const post = async (
  url: string,
  body: string | URLSearchParams | FormData | Uint8Array<ArrayBuffer>,
  type?: string,
) => {
  const headers = type === undefined ? {} : { "content-type": type }
  expect((await fetch(url, { method: "POST", body, headers })).status).toBe(200)
}

/** What senders send: digits beyond a double, other alphabets and encodings, files, repeats and duplicate keys. */
const fill = async (intake: string): Promise<void> => {
  for (let n = 0; n < 250; n++) {
    const nested = `"nested":{"list":[1,2,${n}],"none":null}`
    await post(
      intake,
      `{"n":${n},"big":1234567890123456789.01234567890${n},"text":"Ж 😀 \\u0000${n}",${nested},"twice":1,"twice":2}`,
      JSON_TYPE["content-type"],
    )
  }
  for (let n = 0; n < 5; n++) await post(intake, '{"same":true}', JSON_TYPE["content-type"])
  for (let n = 0; n < 50; n++) await post(intake, new URLSearchParams({ name: `Ünï ${n}`, zip: `0012${n}` }))
  const form = new FormData()
  form.set("upload", new Blob([new Uint8Array([0, 255, 1])]), "a.bin")
  await post(intake, form)
  await post(intake, new Uint8Array([110, 61, 196, 233]), "application/x-www-form-urlencoded; charset=iso-8859-1")
}

const TABLES = ["first_source", "kept"]

afterEach(endAll)

describe.each(["5a7dda93", "fb3a2c2f"])("%s", (commit) => {
  const database = withDatabase({ empty: true })
  let folder: string
  let program: string
  let receiver: Receiver
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "dc-earlier-"))
    program = build(commit, folder)
    receiver = await startReceiver()
  })
  afterAll(async () => {
    await receiver.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it("its data directory is served as it was, its cursors continue, and its waiting deliveries arrive", async () => {
    const earlier = newHome(program)
    const env = { ...ENV, CABINET_DATA_DIR: earlier.dataDir }
    const before = await serveEarlier(earlier, env)
    const key = await output(earlier, ["key", "add", "reader", "--get", "key"], env)
    const kept = await output(earlier, ["source", "add", "Kept", "--get", "intake_url"], env)
    const address = await output(earlier, ["address", "add", receiver.url, "--get", "id"], env)
    await output(earlier, ["address", "pause", address], env)
    await fill(before.welcome.source!.intake_url)
    await fill(kept)
    await output(earlier, ["event", "trash", "First source", "1"], env)
    const paths = ["events", ...TABLES.map((table) => `tables/sources/${table}/rows`)]
    const all = async (server: ServerProcess) => {
      const pages: Array<string> = []
      for (const path of paths) for (const page of (await walk(server, key, path)).pages) pages.push(page)
      return pages
    }
    const served = await all(before)
    const { cursor, items } = await walk(before, key, "events")
    await before.stop("SIGTERM")

    const now = newHome()
    const after = await now.serve([], env)
    expect(await all(after)).toEqual(served)
    await post(`${after.baseUrl}${new URL(kept).pathname}`, '{"id":"later"}', JSON_TYPE["content-type"])
    expect((await walk(after, key, "events", cursor)).items.map(({ payload }) => payload.id)).toEqual(["later"])
    await output(now, ["address", "resume", address], env)
    const delivered = items.filter(({ repeat_of, deleted_at }) => repeat_of === null && deleted_at === null)
    await receiver.until((received) => received.length === delivered.length + 1)
    await after.stop("SIGTERM")
  })

  it("its server answers every request while this version migrates its database and takes over", async () => {
    const env = { ...ENV, DATABASE_URL: database.url }
    const old = await serveEarlier(newHome(program), env)
    const now = newHome()
    const key = old.welcome.key!.key
    const path = new URL(old.welcome.source!.intake_url).pathname
    const servers = [old]
    const acknowledged: Array<string> = []
    const failures: Array<string> = []
    let isOver = false
    const asking = async (server: ServerProcess, target: string, init: RequestInit) => {
      const response = await fetch(`${server.baseUrl}${target}`, init).catch((error: unknown) => String(error))
      if (typeof response === "string") return void failures.push(response)
      const text = await response.text()
      if (response.status !== 200) return void failures.push(`${response.status} ${text}`)
      return text
    }
    const sending = async (name: string) => {
      for (let n = 0; !isOver; n++) {
        const body = JSON.stringify({ id: `${name} ${n}`, [`column_${n % 20}`]: n })
        const answer = await asking(servers[n % servers.length]!, path, { method: "POST", headers: JSON_TYPE, body })
        if (answer !== undefined) acknowledged.push(`${name} ${n}`)
      }
    }
    const reading = async () => {
      const targets = ["events?limit=50", "tables", "sources", "tables/sources/first_source/rows?limit=20"]
      for (let n = 0; !isOver; n++) {
        const target = `/api/v1/${targets[n % targets.length]!}`
        await asking(servers[n % servers.length]!, target, { headers: { "x-api-key": key } })
        await sleep(10)
      }
    }
    await post(`${old.baseUrl}${path}`, '{"id":"first"}', JSON_TYPE["content-type"])
    const load = [sending("one"), sending("two"), sending("three"), reading()]
    await sleep(2_000)
    const after = await now.serve([], env)
    servers.push(after)
    await sleep(5_000)
    servers.shift()
    await old.stop("SIGTERM")
    await sleep(2_000)
    isOver = true
    await Promise.all(load)
    expect(failures).toEqual([])
    const { items } = await walk(after, key, "events")
    expect(items.map(({ payload }) => payload.id).sort()).toEqual(["first", ...acknowledged].sort())
    await after.stop("SIGTERM")
  })
})
