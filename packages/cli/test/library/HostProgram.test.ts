/** What a host program affects: its body parsers, its logger, its pool and misspelt options. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { json } from "node:stream/consumers"
import { Intake } from "@data-cabinet/core/intake/Intake"
import { Sources } from "@data-cabinet/core/source/Sources"
import { type Cabinet, openCabinet } from "data-cabinet"
import { openCabinetLayer } from "data-cabinet/openCabinetLayer"
import { Context, Effect, Layer } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type CountingSocket, countingSocket } from "../../../../test/support/countingSocket.ts"
import { testDatabase, withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase({ empty: true })
/** Open connections are counted on the program's side, because a session of the database outlives them for a moment. */
let socket: CountingSocket
let cabinet: Cabinet
const logged: Array<string> = []

beforeAll(async () => {
  socket = await countingSocket(database.socketDir)
  cabinet = await openCabinet({
    databaseUrl: database.url.replace(encodeURIComponent(database.socketDir), encodeURIComponent(socket.directory)),
    baseUrl: "http://shop.example/data",
    maxConnections: 4,
    maxReaderConnections: 1,
    log: { warn: (line) => logged.push(line), error: (line) => logged.push(line) },
  })
})
afterAll(async () => {
  await cabinet.close()
  await socket.close()
})

it("a body that the program has already read gets a 500; response and log say how to mount the handler", async () => {
  const { intakeUrl } = await cabinet.sources.create({ name: "Consumed" })
  const { token } = await cabinet.tokens.create({ name: "Consumed", role: "owner" })
  const server = createServer((request, response) => {
    // As express.json() does.
    void json(request).then(() => cabinet.nodeHandler(request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    const { port } = server.address() as AddressInfo
    const here = (url: string) => `http://127.0.0.1:${port}${new URL(url).pathname}`
    const asJson = { "content-type": "application/json" }
    const asForm = { "content-type": "application/x-www-form-urlencoded", accept: "text/html" }
    const asFile = { "content-type": "multipart/form-data; boundary=x" }
    const send = (url: string, headers: Record<string, string>) =>
      fetch(here(url), { method: "POST", headers, body: '{"name":"a"}' })
    const read = new Request(intakeUrl, { method: "POST", body: '{"a":1}' })
    await read.json()
    const responses = [
      await send(intakeUrl, asJson),
      await send(intakeUrl, asForm),
      await send("http://shop.example/data/manage/v1/sources", { ...asJson, authorization: `Bearer ${token}` }),
      await send("http://shop.example/data/upload/1", { ...asFile, authorization: `Bearer ${token}` }),
      await cabinet.fetchHandler(read),
    ]
    expect(logged).toHaveLength(responses.length)
    for (const [n, response] of responses.entries()) {
      const text = await response.text()
      expect(response.status, text).toBe(500)
      expect(text).toMatch(MOUNT_FIRST)
      expect(text).toContain(/correlationId ([\w-]{36})/.exec(logged[n]!)![1])
      expect(logged[n]).toMatch(MOUNT_FIRST)
    }
    expect(logged.join()).not.toContain(intakeUrl.split("/").at(-1))
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

const MOUNT_FIRST = /mount the cabinet's handler in front of any body parser/

it("openCabinet opens no more connections than the program allows, under any load", async () => {
  const { id, intakeUrl } = await cabinet.sources.create({ name: "Pool" })
  const bytes = new TextEncoder().encode("n\n1\n2\n")
  await Promise.all([
    cabinet.imports.file(id, { name: "pool.csv", bytes }),
    ...Array.from({ length: 40 }, (_, n) => cabinet.intake(id, { fields: { n } })),
    ...Array.from({ length: 10 }, (_, n) =>
      cabinet.fetchHandler(new Request(`${intakeUrl}?n=${n}`, { method: "POST", body: "x=1" })),
    ),
    ...Array.from({ length: 20 }, () => cabinet.rows("sources.pool")),
    ...Array.from({ length: 20 }, () => cabinet.sources.list()),
  ])
  expect(socket.most()).toBeGreaterThan(3)
  expect(socket.most()).toBeLessThanOrEqual(4 + 2 + 1)
})

it("openCabinet refuses unknown options and invalid values, naming the option", async () => {
  const refused: ReadonlyArray<readonly [options: object, words: RegExp]> = [
    [{ databaseURL: "postgres://localhost/x" }, /^openCabinet has no option databaseURL\.$/],
    [{ statementTimeout: 5 }, /no option statementTimeout\./],
    [{ timeZone: "Mars/Base" }, /^timeZone is "Mars\/Base": it must be the name of a time zone/],
    [{ statementTimeoutMillis: -1 }, /^statementTimeoutMillis is "-1ms"/],
    [{ readLag: 5 }, /no option readLag\./],
    [{ readLagMillis: -1 }, /^readLagMillis is "-1ms"/],
    [{ databaseUrl: "mysql://localhost/x" }, /^databaseUrl is not valid: it must be a URL such as postgres/],
    [{ maxConnections: 3 }, /^maxConnections is 3: it must be an integer from 4 to 1000\.$/],
    [{ maxReaderConnections: 0 }, /^maxReaderConnections is 0/],
  ]
  for (const [options, words] of refused) {
    const opening = openCabinet(options)
    await expect(opening, words.source).rejects.toThrow(words)
    await expect(opening).rejects.toMatchObject({ name: "CabinetError", code: "bad_setting" })
  }
})

it("a database whose user may not create roles is opened, and the log says what is unavailable", async () => {
  const poor = await testDatabase({ empty: true })
  const role = `poor_${poor.name}`
  try {
    await database.run(`CREATE ROLE ${role} LOGIN`)
    await database.run(`ALTER DATABASE ${poor.name} OWNER TO ${role}`)
    const lines: Array<string> = []
    const log = { warn: (line: string) => lines.push(line), error: (line: string) => lines.push(line) }
    const opened = await openCabinet({ databaseUrl: poor.urlAs(role), delivery: false, log })
    const { id } = await opened.sources.create({ name: "Poor" })
    expect(await opened.intake(id, { fields: { a: 1 } })).toMatchObject({ empty: false })
    const off = { code: "unavailable", message: expect.stringContaining("CREATEROLE") }
    await expect(opened.rows("sources.poor")).rejects.toMatchObject(off)
    await expect(opened.tables.list()).rejects.toMatchObject(off)
    const { key } = await opened.keys.create({ name: "poor" })
    const answer = await opened.fetchHandler(
      new Request("http://127.0.0.1/api/v1/tables/sources/poor/rows", { headers: { "x-api-key": key } }),
    )
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({ error: { type: "unavailable", code: "reader_off" } })
    await expect(opened.sql("SELECT 1")).rejects.toMatchObject({ code: "script_failed" })
    await opened.close()
    expect(lines).toEqual([expect.stringMatching(/^Reading and `cabinet sql` are off.* CREATE ROLE .*; GRANT .*;$/)])
  } finally {
    await poor.drop()
    await database.run(`DROP ROLE IF EXISTS ${role}`)
  }
})

class Here extends Context.Service<Here, ReadonlyArray<string>>()("test/Here") {}
class There extends Context.Service<There, ReadonlyArray<string>>()("test/There") {}

it("two layers in one Effect program are two cabinets", async () => {
  const second = await testDatabase({ empty: true })
  try {
    const make = (name: string) =>
      Effect.gen(function* () {
        const { id } = yield* Sources.use((sources) => sources.create({ name }))
        yield* Intake.use((intake) => intake.accept(id, { total: "12.50" }))
        return (yield* Sources.use((sources) => sources.list)).map((source) => source.name)
      })
    const layer = Layer.merge(
      Layer.effect(Here, make("Here")).pipe(
        Layer.provide(openCabinetLayer({ databaseUrl: database.url, delivery: false })),
      ),
      Layer.effect(There, make("There")).pipe(
        Layer.provide(openCabinetLayer({ databaseUrl: second.url, delivery: false })),
      ),
    )
    const [here, there] = await Effect.runPromise(Effect.all([Here, There]).pipe(Effect.provide(layer)))
    expect(here).toContain("Pool")
    expect(there).toEqual(["There"])
  } finally {
    await second.drop()
  }
})
