/**
 * The login for reports of the embedded database, over TCP as psql and reporting tools connect: what it reads, and that it can
 * neither write, nor see schema `cabinet`, nor hold up the cabinet.
 */
import { execFile } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { promisify } from "node:util"
import { Client } from "pg"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { freePorts } from "../support/packed.ts"

let home: Home
let server: ServerProcess
let port: number
let url: string
let issued: { readonly url: string }
const clients = new Set<Client>()

beforeAll(async () => {
  port = (await freePorts(1))[0]!
  home = newHome()
  server = await home.serve([], { CABINET_INTAKE_RATE: "0", CABINET_POSTGRES_PORT: String(port) })
  await send({ total: 12 })
  await json("schema", "add", "shop")
  await sql("CREATE TABLE shop.item (id int PRIMARY KEY, name text); INSERT INTO shop.item VALUES (1, 'lamp')")
  issued = await json("database", "url")
  url = issued.url
})
afterAll(async () => {
  await Promise.all([...clients].map((client) => client.end()))
  await endAll()
})

const send = async (fields: object) => {
  const response = await fetch(server.welcome.source!.intake_url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(fields),
  })
  return response.status
}

const done = async (args: ReadonlyArray<string>, input = "") => {
  const result = await home.cabinet(args, {}, input)
  expect(result).toMatchObject({ code: 0, stderr: "" })
  return result.stdout
}
const json = async (...args: ReadonlyArray<string>) => JSON.parse(await done([...args, "--json"]))
const sql = (script: string) => done(["sql"], script)

/** A session of the login, which the server may end without failing the test. */
const connect = async (to = url) => {
  const client = new Client({ connectionString: to })
  client.on("error", () => {})
  await client.connect()
  clients.add(client)
  return client
}

const inSession = async <A>(work: (client: Client) => Promise<A>): Promise<A> => {
  const client = await connect()
  try {
    return await work(client)
  } finally {
    clients.delete(client)
    await client.end().catch(() => {})
  }
}

/** PostgreSQL's first refusal, or nothing. */
const refusal = (...statements: ReadonlyArray<string>) =>
  inSession(async (client) => {
    for (const statement of statements) {
      try {
        await client.query(statement)
      } catch (error) {
        return (error as Error).message
      }
    }
    return null
  })

const PSQL = ["/usr/lib/postgresql/18/bin/psql", "/usr/lib/postgresql/15/bin/psql", "/usr/bin/psql"].find((path) =>
  existsSync(path),
)

it("the login has no right beyond reading, and its URL is that of the port", () => {
  expect(issued).toMatchObject({ role: "cabinet_cabinet_reports", active: true, beyond: [], max_sessions: 5 })
  expect(issued.url).toMatch(
    new RegExp(`^postgres://cabinet_cabinet_reports:[\\w-]{32}@127\\.0\\.0\\.1:${port}/cabinet$`),
  )
})

it.runIf(PSQL !== undefined)("psql reads a source's table and a customer's by the URL alone", async () => {
  const { stdout } = await promisify(execFile)(PSQL!, [
    "-XAtc",
    "SELECT o.total, i.name FROM sources.first_source o, shop.item i",
    url,
  ])
  expect(stdout).toBe("12|lamp\n")
})

it("the login reads objects created before or after it: tables, columns and schemas", async () => {
  await json("schema", "add", "later")
  await sql("CREATE VIEW later.totals AS SELECT total FROM sources.first_source")
  await json("source", "add", "Second")
  expect(await send({ total: 13, note: "new" })).toBe(200)
  await inSession(async (client) => {
    expect((await client.query("SELECT total::text FROM later.totals ORDER BY 1")).rows).toEqual([
      { total: "12" },
      { total: "13" },
    ])
    expect((await client.query("SELECT note FROM sources.first_source WHERE total = 13")).rows).toEqual([
      { note: "new" },
    ])
  })
})

it("over TCP no other login is admitted, with any password", async () => {
  for (const role of ["postgres", "cabinet", "cabinet_cabinet_reader", "cabinet_cabinet_author", "nobody"]) {
    for (const database of ["cabinet", "postgres", "template1"]) {
      await expect(connect(`postgres://${role}:any@127.0.0.1:${port}/${database}`)).rejects.toThrow(
        /pg_hba\.conf rejects connection/,
      )
    }
  }
  const wrong = new URL(url)
  wrong.password = "wrong"
  await expect(connect(wrong.toString())).rejects.toThrow(/password authentication failed/)
  wrong.password = ""
  await expect(connect(wrong.toString())).rejects.toThrow()
  for (const database of ["postgres", "template1"]) {
    const other = new URL(url)
    other.pathname = `/${database}`
    await expect(connect(other.toString())).rejects.toThrow(/permission denied for database/)
  }
})

describe("the login cannot", () => {
  const OFF = ["SET default_transaction_read_only = off", "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE"]
  it.each([
    ["write", "INSERT INTO shop.item VALUES (2, 'x')"],
    ["change", "UPDATE sources.first_source SET total = 0"],
    ["delete", "DELETE FROM shop.item"],
    ["truncate", "TRUNCATE shop.item"],
    ["lock rows", "SELECT FROM shop.item FOR UPDATE"],
    ["lock rows to share", "SELECT FROM shop.item FOR KEY SHARE"],
    ["lock a table", "BEGIN; LOCK TABLE shop.item IN ROW EXCLUSIVE MODE"],
    ["lock a source's table", "BEGIN; LOCK TABLE sources.first_source IN SHARE MODE"],
    ["lock the fence", "BEGIN; LOCK TABLE cabinet.fence IN ACCESS SHARE MODE"],
    ["create a table", "CREATE TABLE public.mine (a int)"],
    ["create a temporary table", "CREATE TEMP TABLE mine (a int)"],
    ["create a schema", "CREATE SCHEMA mine"],
    ["create a function", "CREATE FUNCTION public.f() RETURNS int LANGUAGE sql AS 'SELECT 1'"],
    ["create a large object", "SELECT lo_from_bytea(0, 'x')"],
    ["create an empty large object", "SELECT lo_create(0)"],
    ["write into the log of changes", "SELECT pg_logical_emit_message(false, 'x', 'y')"],
    ["read schema cabinet", "SELECT * FROM cabinet.api_key"],
    ["read its secrets", "SELECT * FROM cabinet.secret"],
    ["call its functions", "SELECT cabinet.now()"],
    ["query it by a function", "SELECT query_to_xml('SELECT * FROM cabinet.role_password', true, true, '')"],
    ["read passwords", "SELECT * FROM pg_authid"],
    ["read a file", "SELECT pg_read_file('/etc/passwd')"],
    ["list files", "SELECT pg_ls_dir('.')"],
    ["write a file", "COPY shop.item TO '/tmp/x'"],
    ["run a program", "COPY (SELECT 1) TO PROGRAM 'true'"],
    ["import a large object", "SELECT lo_import('/etc/passwd')"],
    ["become the owner", "SET ROLE cabinet"],
    ["become the reader", "SET ROLE cabinet_cabinet_reader"],
    ["become the author", "SET ROLE cabinet_cabinet_author"],
    ["take the owner's session", "SET SESSION AUTHORIZATION cabinet"],
    ["set the reader's password", "ALTER ROLE cabinet_cabinet_reader PASSWORD 'mine'"],
    ["be a member of the reader", "GRANT cabinet_cabinet_reader TO cabinet_cabinet_reports"],
    ["take advisory locks", "SELECT pg_advisory_lock(g) FROM generate_series(1, 1000000) g"],
    ["end its own sessions", "SELECT pg_terminate_backend(pg_backend_pid())"],
    ["cancel others", "SELECT pg_cancel_backend(pid) FROM pg_stat_activity"],
    ["raise its limit of temporary files", "SET temp_file_limit = -1"],
    ["remove that limit", "ALTER ROLE cabinet_cabinet_reports RESET temp_file_limit"],
    ["raise its limit of sessions", "ALTER ROLE cabinet_cabinet_reports CONNECTION LIMIT 100"],
    ["install what reads elsewhere", "CREATE EXTENSION dblink"],
    ["prepare a transaction", "BEGIN; PREPARE TRANSACTION 'mine'"],
  ])("%s", async (_, statement) => {
    expect(await refusal(...OFF, ...statement.split("; "))).toMatch(
      /permission denied|must be|must have|Only roles|not permitted|are disabled|denied to/i,
    )
  })

  it("see the queries of others", async () => {
    const texts = await inSession(
      async (client) =>
        (await client.query("SELECT query FROM pg_stat_activity WHERE usename <> current_user AND query <> ''")).rows,
    )
    expect(texts.length).toBeGreaterThan(0)
    for (const { query } of texts) expect(query).toBe("<insufficient privilege>")
  })

  it("open a sixth session", async () => {
    const five = await Promise.all(Array.from({ length: 5 }, () => connect()))
    await expect(connect()).rejects.toThrow(/too many connections for role/)
    for (const client of five) {
      clients.delete(client)
      await client.end()
    }
  })
})

it("a view over schema cabinet that the owner created is not shown, though it is granted to the reader", async () => {
  const owner = new Client({ connectionString: ownerUrl() })
  await owner.connect()
  await owner.query("CREATE SCHEMA peek; CREATE VIEW peek.events AS SELECT id FROM cabinet.event")
  await owner.query("CREATE TABLE peek.plain (id int)")
  await owner.end()
  await done(["schema", "expose", "peek"])
  expect(await refusal("SELECT * FROM peek.plain")).toBeNull()
  expect(await refusal("SELECT * FROM peek.events")).toMatch(/permission denied for view events/)
  await done(["schema", "hide", "peek"])
  expect(await refusal("SELECT * FROM peek.plain")).toMatch(/permission denied for schema peek/)
})

/** A session of the owner over the socket. */
const ownerUrl = () => {
  const { socketDir } = JSON.parse(readFileSync(`${home.dataDir}/server.json`, "utf8")) as { socketDir: string }
  return `postgres://cabinet@localhost:${port}/cabinet?host=${encodeURIComponent(socketDir)}`
}

it("a long read and its locks delay no event; a row with a new field follows when the read ends", async () => {
  const reading = await connect()
  await reading.query("BEGIN ISOLATION LEVEL REPEATABLE READ")
  await reading.query("LOCK TABLE sources.first_source IN ACCESS SHARE MODE")
  await reading.query("LISTEN anything")
  // The new field has to alter the table while it is read; the event is accepted nevertheless.
  expect(await send({ total: 14, while_reading: "yes" })).toBe(200)
  for (let n = 0; n < 20; n += 1) expect(await send({ total: 100 + n })).toBe(200)
  const { data: events } = await json("event", "list", "--limit", "30")
  expect(events.length).toBeGreaterThanOrEqual(21)
  clients.delete(reading)
  await reading.end()
  await vi.waitFor(
    async () => {
      const { data } = await json("rows", "sources.first_source", "--where", "total=14")
      expect(data).toMatchObject([{ while_reading: "yes" }])
    },
    { timeout: 120_000, interval: 500 },
  )
})

it("notifications on the cabinet's own channels do nothing but wake it", async () => {
  await inSession(async (client) => {
    for (const channel of ["cabinet_delivery", "cabinet_feed", "cabinet_in_use"]) {
      await client.query("SELECT pg_notify($1, 'nonsense')", [channel])
    }
  })
  expect(await send({ total: 15 })).toBe(200)
})

it("a repeated request for a password under its idempotency key sets and shows no password, and ends no session", async () => {
  const { token } = await json("token", "add", "reports", "--role", "owner")
  const ask = async () => {
    const response = await fetch(`${server.baseUrl}/manage/v1/report-login`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "idempotency-key": "reports" },
    })
    return { status: response.status, text: await response.text() }
  }
  const first = await ask()
  expect(first.status).toBe(201)
  ;({ url } = JSON.parse(first.text) as { readonly url: string })
  await inSession(async (client) => {
    const again = await ask()
    expect(again.status).toBe(200)
    expect(again.text).not.toContain(new URL(url).password)
    expect(JSON.parse(again.text)).not.toHaveProperty("password")
    expect((await client.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }])
  })
  expect(await refusal("SELECT * FROM shop.item")).toBeNull()
})

it("--rotate ends the sessions of the old password, which no longer works; --revoke closes the login", async () => {
  const old = await connect()
  const ended = new Promise<void>((resolve) => old.once("end", resolve))
  const shown = await json("database", "url")
  expect(shown).toMatchObject({ active: true, password: null })
  expect(shown.url).not.toContain(new URL(url).password)
  const { url: fresh } = await json("database", "url", "--rotate")
  await ended
  clients.delete(old)
  await expect(connect()).rejects.toThrow(/password authentication failed/)
  url = fresh
  expect(await refusal("SELECT * FROM shop.item")).toBeNull()
  // A session may change its own password, like every role in PostgreSQL; the next rotation resets it.
  expect(await refusal("ALTER ROLE cabinet_cabinet_reports PASSWORD 'mine'")).toBeNull()
  ;({ url } = await json("database", "url", "--rotate"))
  expect(await refusal("SELECT * FROM shop.item")).toBeNull()
  expect(await json("database", "url", "--revoke")).toMatchObject({ active: false })
  await expect(connect()).rejects.toThrow()
  const acts = (await json("audit", "--limit", "20")) as ReadonlyArray<{ action: string }>
  expect(acts.map(({ action }) => action).filter((action) => action.startsWith("report_login."))).toEqual([
    "report_login.revoke",
    "report_login.issue",
    "report_login.issue",
    "report_login.issue",
    "report_login.issue",
  ])
  expect(server.log()).not.toContain(new URL(fresh).password)
})
