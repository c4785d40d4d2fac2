/**
 * Everything that a cabinet does, on every version of PostgreSQL, by every route to it. `POSTGRES_VERSIONS` names the versions;
 * `npm run trials -- versions` uses all. A version that is not installed is reported, and does not count as passed.
 */
import { type Cabinet, openCabinet, type SourceWithAddress } from "data-cabinet"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { endAll, type Home, newHome } from "../support/cabinetProcess.ts"
import { type ClusterHome, clusterHome, type TestCluster } from "../support/cluster.ts"
import { hasPgBouncer, type PgBouncer, startPgBouncer } from "../support/pgBouncer.ts"
import { postgresBin } from "../support/postgresVersions.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"

/** Forty digits, more than any native number has. */
const SENT = "1234567890123456789012345678901234567890"
const IMPORTED = "9876543210987654321098765432109876543210"

const OWNER = "cabinet"
const usersOf = (database: string) => [OWNER, `cabinet_${database}_reader`, `cabinet_${database}_author`]

interface Server {
  readonly home: ClusterHome
  readonly cluster: TestCluster
  readonly bouncers: Array<PgBouncer>
}

/** The URL of a database by each route. */
const ROUTES: Readonly<Record<string, (server: Server, database: string) => Promise<string>>> = {
  direct: async ({ cluster }, database) => cluster.url(database),
  "PgBouncer session": async ({ home, cluster, bouncers }, database) => {
    const bouncer = await startPgBouncer(home, cluster, usersOf(database), { pool_mode: "session" })
    bouncers.push(bouncer)
    return bouncer.url(OWNER, database)
  },
  "dead first host": async ({ cluster }, database) => {
    const hosts = encodeURIComponent(`/nowhere,${cluster.socketDir}`)
    return `postgres://${OWNER}@localhost/${database}?host=${hosts}&target_session_attrs=read-write`
  },
}

const missing: Array<string> = []

const routes = Object.keys(ROUTES).filter((route) => {
  if (route !== "PgBouncer session" || hasPgBouncer) return true
  missing.push("PgBouncer (.ci/pgbouncer installs it)")
  return false
})
const versions = (process.env["POSTGRES_VERSIONS"] ?? "15,18")
  .split(",")
  .map(Number)
  .filter((version) => {
    if (postgresBin(version) !== undefined) return true
    missing.push(`PostgreSQL ${version}`)
    return false
  })
if (missing.length > 0) process.stdout.write(`not run: ${missing.join(", ")}\n`)

afterAll(() => endAll())

describe.each(versions)("PostgreSQL %i", (version) => {
  let server: Server
  beforeAll(async () => {
    const home = clusterHome(postgresBin(version))
    server = { home, cluster: await home.init("matrix"), bouncers: [] }
    await server.cluster.start()
  })
  afterAll(async () => {
    for (const bouncer of server.bouncers) await bouncer.end()
    await server.home.remove()
  })

  describe.each(routes)("%s", (route) => {
    let url: string
    let home: Home
    let receiver: Receiver
    let cabinet: Cabinet
    let source: SourceWithAddress
    const command = async (...words: ReadonlyArray<string>) => {
      const { code, stdout, stderr } = await home.cabinet([...words, "--json"], { DATABASE_URL: url })
      expect(stderr).toBe("")
      expect(code).toBe(0)
      return JSON.parse(stdout) as Record<string, unknown>
    }
    const rows = async () => (await cabinet.rows(`sources.${source.table!.name}`, { sort: "_event_id" })).texts
    beforeAll(async () => {
      const database = `via_${routes.indexOf(route)}`
      await server.cluster.createDatabase(database)
      url = await ROUTES[route]!(server, database)
      home = newHome()
      receiver = await startReceiver()
    })
    afterAll(async () => {
      await cabinet?.close()
      await receiver.close()
    })

    it("migrate", async () => {
      expect(await command("migrate")).toMatchObject({
        applied: expect.arrayContaining([expect.anything()]),
        notes: [],
        administrator_sql: null,
      })
      expect(await command("migrate")).toEqual({
        applied: [],
        reader: true,
        author: true,
        notes: [],
        administrator_sql: null,
      })
    })

    it("intake", async () => {
      cabinet = await openCabinet({ databaseUrl: url, allowedNetworks: ["127.0.0.0/8"], console: false })
      source = await cabinet.sources.create({ name: "Orders" })
      await cabinet.addresses.create({ url: receiver.url })
      const body = `{"total":${SENT}}`
      const headers = { "content-type": "application/json" }
      const response = await cabinet.fetchHandler(new Request(source.intakeUrl, { method: "POST", headers, body }))
      expect(response.status).toBe(200)
    })

    it("rows", async () => {
      expect(await rows()).toEqual([expect.stringContaining(`"total":${SENT}`)])
    })

    it("delivery", async () => {
      await receiver.until((received) => received.some(({ body }) => body.includes(`"total":${SENT}`)))
    })

    it("import", async () => {
      const file = { name: "totals.csv", bytes: Buffer.from(`total\n${IMPORTED}\n`) }
      expect(await cabinet.imports.file(source.id, file)).toMatchObject({ state: "done", accepted: 1 })
      expect(await rows()).toEqual([expect.stringContaining(SENT), expect.stringContaining(`"${IMPORTED}"`)])
    })

    it("feed", async () => {
      const texts: Array<string> = []
      for await (const { text } of cabinet.feed()) texts.push(text)
      expect(texts).toEqual([expect.stringContaining(`"total":${SENT}`), expect.stringContaining(`"${IMPORTED}"`)])
    })

    it("doctor", async () => {
      expect(await command("doctor")).toMatchObject({
        ok: true,
        database: { server_version: expect.stringMatching(new RegExp(`^${version}\\.`)) },
      })
    })
  })
})
