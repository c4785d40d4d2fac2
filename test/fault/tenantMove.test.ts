/**
 * `cabinet tenant move`: a cabinet moves from one server to another while senders continue. No acknowledged event is missing,
 * earlier cursors stay valid, the author's code is restored as the author, and the old database accepts nothing more. It
 * needs PostgreSQL's client programs, which the shipped PostgreSQL lacks.
 */
import { existsSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { type ClusterHome, clusterHome, type TestCluster } from "../support/cluster.ts"
import { ownerRole, runSql } from "../support/postgresAdmin.ts"

vi.setConfig({ testTimeout: 240_000, hookTimeout: 180_000 })

const DEBIANS = "/usr/lib/postgresql/15/bin"
const BIN = [process.env["TEST_PG_BIN"] ?? "", DEBIANS].find((bin) => bin !== "" && existsSync(join(bin, "pg_dump")))
const DATABASE = "cabinet_orders"
const HOST = "orders.cabinets.test"

let clusters: ClusterHome | undefined
let old: TestCluster
let target: TestCluster
let home: Home
let server: ServerProcess
let env: Record<string, string>

const command = async (...args: ReadonlyArray<string>): Promise<any> => {
  const { code, stdout, stderr } = await home.cabinet([...args, "--json"], env)
  expect({ stderr, code }).toEqual({ stderr: "", code: 0 })
  return JSON.parse(stdout)
}

const refusal = async (args: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) => {
  const { code, stderr } = await home.cabinet(args, { ...env, ...more })
  expect(code).not.toBe(0)
  return stderr
}

interface Answer {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly json: any
}

const ask = (path: string, options: { readonly key?: string; readonly body?: object } = {}) =>
  new Promise<Answer>((resolve, reject) => {
    const headers: Record<string, string> = { host: HOST, "content-type": "application/json" }
    if (options.key !== undefined) headers["x-api-key"] = options.key
    const method = options.body === undefined ? "GET" : "POST"
    const sent = request(new URL(path, server.baseUrl), { method, headers }, (response) => {
      let text = ""
      response.on("data", (chunk) => (text += chunk))
      response.on("end", () =>
        resolve({
          status: response.statusCode!,
          retryAfter: response.headers["retry-after"],
          json: JSON.parse(text || "null"),
        }),
      )
    })
    sent.on("error", reject)
    sent.end(options.body === undefined ? undefined : JSON.stringify(options.body))
  })

const feed = async (key: string, cursor: string) => {
  const ids: Array<number> = []
  for (let after = cursor; ;) {
    const { json } = await ask(
      `/api/v1/events?limit=1000${after === "" ? "" : `&cursor=${encodeURIComponent(after)}`}`,
      { key },
    )
    ids.push(...json.data.map(({ id }: { id: number }) => id))
    after = json.next_cursor
    if (!json.has_more) return { ids, cursor: after }
  }
}

/** The author's code, which records the role it runs as, wherever a restore would run it. */
const AUTHORS = `
CREATE TABLE public.a_ran (who text);
CREATE FUNCTION public.note() RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog AS $f$
  BEGIN
    BEGIN EXECUTE 'RESET ROLE'; EXCEPTION WHEN OTHERS THEN NULL; END;
    INSERT INTO public.a_ran VALUES (current_user);
    RETURN true;
  END $f$;
CREATE DOMAIN public.d AS int CHECK (public.note());
CREATE VIEW public.literal AS SELECT '{1}'::public.d[] AS d, n FROM sources.orders;
CREATE TABLE public.mine (id int PRIMARY KEY);
INSERT INTO public.mine VALUES (7);
CREATE VIEW own.totals AS SELECT n FROM sources.orders;
TRUNCATE public.a_ran;`

beforeAll(async () => {
  home = newHome()
  if (BIN === undefined) return
  clusters = clusterHome(BIN)
  old = await clusters.init("old")
  target = await clusters.init("target")
  await old.start()
  await target.start()
  await old.createDatabase("service")
  env = {
    DATABASE_URL: old.url("service"),
    CABINET_SERVICE_DOMAIN: "cabinets.test",
    CABINET_POSTGRES_BIN: BIN,
    CABINET_INTAKE_RATE: "0",
    CABINET_API_RATE: "100000",
  }
  server = await home.serve([], env)
})
afterAll(async () => {
  await endAll()
  await clusters?.remove()
})

it("tenant move needs the URL of the database to move to", async () => {
  const { code, stderr } = await home.cabinet(["tenant", "move", "orders"], {
    DATABASE_URL: "postgres://x@127.0.0.1:1/x",
  })
  expect(code).toBe(2)
  expect(stderr).toContain("requires the URL of the database to move to")
})

if (BIN !== undefined) {
  it("a cabinet moves to another server while senders continue, and loses nothing", async () => {
    await command("tenant", "add", "orders")
    const source = await command("source", "add", "Orders", "--cabinet", "orders")
    const { key } = await command("key", "add", "reader", "--cabinet", "orders")
    const intake = source.intake_path as string
    const first = await ask(intake, { body: { n: 0 } })
    expect(first.status).toBe(200)
    expect(await home.cabinet(["schema", "add", "own", "--cabinet", "orders"], env)).toMatchObject({ code: 0 })
    expect(await home.cabinet(["sql", "--cabinet", "orders"], env, AUTHORS)).toMatchObject({ code: 0, stderr: "" })
    const before = await feed(key, "")
    const listed = ["token", "add", "partner", "--role", "reader", "--only", "own.totals", "--only", "sources.orders"]
    const { token } = await command(...listed, "--cabinet", "orders")

    const move = ["tenant", "move", "orders", "--database-url"]
    expect(await refusal([...move, old.url(DATABASE)])).toContain("must be an empty database")
    await target.createDatabase("other")
    expect(await refusal([...move, target.url("other")])).toContain(`must have the name ${DATABASE}`)
    await target.createDatabase(DATABASE)
    const bare = { PATH: "/nowhere", CABINET_POSTGRES_BIN: "/nowhere" }
    expect(await refusal([...move, target.url(DATABASE)], bare)).toMatch(
      /needs pg_dump and pg_restore of PostgreSQL \d+/,
    )

    const acknowledged: Array<number> = []
    const others: Array<Answer> = []
    let isOver = false
    const senders = [1, 2].map(async (sender) => {
      for (let n = 1; !isOver; n++) {
        const answer = await ask(intake, { body: { n, sender } })
        if (answer.status === 200) acknowledged.push(answer.json.id)
        else others.push(answer)
        await sleep(10)
      }
    })
    while (acknowledged.length < 20) await sleep(10)
    const file = join(home.dir, "target")
    writeFileSync(file, target.url(DATABASE))
    const moved = await command("tenant", "move", "orders", "--database-url-file", file)
    expect(moved).toMatchObject({ name: "orders", database: expect.stringContaining(target.socketDir) })
    const atMove = acknowledged.length
    while (acknowledged.length < atMove + 20) await sleep(10)
    isOver = true
    await Promise.all(senders)

    expect(others.length).toBeGreaterThan(0)
    for (const { status, retryAfter } of others) {
      expect(status).toBe(503)
      expect(Number(retryAfter)).toBeGreaterThan(0)
    }
    const after = await feed(key, before.cursor)
    expect(new Set(after.ids).size).toBe(after.ids.length)
    expect([...after.ids].sort((a, b) => a - b)).toEqual(acknowledged.sort((a, b) => a - b))

    // The author's objects exist, and their code ran only as the author.
    const script =
      "SELECT count(*)::int AS n FROM own.totals; SELECT DISTINCT who FROM public.a_ran; SELECT id FROM public.mine"
    const shown = await home.cabinet(["sql", "--cabinet", "orders", "-c", script], env)
    expect(shown).toMatchObject({ code: 0, stderr: "" })
    expect(shown.stdout).toContain(`${DATABASE}_author`)
    expect(shown.stdout).not.toMatch(new RegExp(`\\b${ownerRole}\\b`))
    const rows = await ask("/api/v1/tables/own/totals/rows?limit=1000", { key })
    expect(rows.json.data).toHaveLength(acknowledged.length + 1)

    // A reader's list still names exactly the same objects.
    const read = async (object: string) => (await ask(`/api/v1/tables/${object}/rows?limit=1`, { key: token })).status
    expect([await read("own/totals"), await read("sources/orders"), await read("public/mine")]).toEqual([200, 200, 404])

    // A client of the old database is asked to retry.
    for (const statement of ["UPDATE cabinet.clock SET shift = shift", "DELETE FROM cabinet.event"]) {
      await expect(runSql(old.url(DATABASE), statement)).rejects.toThrow()
    }
    const [left] = await old.run(
      "SELECT count(*)::int AS events, (SELECT count(*)::int FROM pg_trigger WHERE tgname = 'cabinet_moved') AS closed FROM cabinet.event",
      DATABASE,
    )
    expect(left!["events"]).toBeGreaterThan(0)
    expect(left!["closed"]).toBeGreaterThan(10)
  })

  it("doctor --all examines every cabinet, and an unreachable one is a finding", async () => {
    const add = `INSERT INTO cabinet.registered_cabinet (name, database_url) VALUES ('away', 'postgres://x@127.0.0.1:1/x')`
    await runSql(old.url("service"), add)
    const { code, stdout } = await home.cabinet(["doctor", "--all", "--json"], env)
    expect(code).toBe(1)
    const found = JSON.parse(stdout)
    expect(found.ok).toBe(false)
    const each = found.cabinets.map(({ cabinet, findings }: any) => [
      cabinet,
      findings.filter((one: any) => one.level === "bad"),
    ])
    expect(each).toEqual([
      [null, []],
      [
        "away",
        [{ check: "database", level: "bad", message: expect.stringContaining("127.0.0.1:1/x cannot be reached") }],
      ],
      ["orders", []],
    ])
    expect(await refusal(["doctor", "--all", "--cabinet", "orders"])).toContain("leave --cabinet out")
  })
}
