/**
 * A page that PostgreSQL sent, replayed: cut at every byte, and with every protocol message at every point. Whatever a
 * server sends, a read ends, with the right page or none.
 */
import { connect } from "node:net"
import { Duplex } from "node:stream"
import { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Fiber, Redacted, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { FrameReader } from "@data-cabinet/store-pg/connection/FrameReader"
import { readPages } from "@data-cabinet/store-pg/connection/ReadPages"
import type { PageStatement } from "@data-cabinet/store-pg/connection/PageStatement"
import { PreparedStatements } from "@data-cabinet/store-pg/connection/PreparedStatements"
import { Wire } from "@data-cabinet/store-pg/connection/Wire"
import { Wires, type WireSession } from "@data-cabinet/store-pg/connection/Wires"
import { encodedColumn } from "@data-cabinet/store-pg/row/RecordToJson"
import { RowPosition } from "@data-cabinet/store-pg/row/RowPosition"
import { RowJson, RowsToJson } from "@data-cabinet/store-pg/row/RowsToJson"
import { type TestDatabase, testDatabase } from "../../../../test/support/postgres.ts"
import { ownerRole } from "../../../../test/support/postgresAdmin.ts"

const VERSION = "the version"
const LIMIT = 3

const type = (name: string) => ({ sql: `"pg_catalog"."${name}"` }) as Parameters<typeof encodedColumn>[1]
const COLUMNS = ["int4", "text", "numeric"].map((name) => encodedColumn(name, type(name), name))

/** How pages are read: all rows at once, a few rows at a time, or several pages in one write. */
type Way = "at once" | "in lots" | "in a group"
const WAYS: ReadonlyArray<Way> = ["at once", "in lots", "in a group"]

const SERIES = "FROM generate_series(1, $1::int4 + 1) n"

const statement = (areLong: boolean, more = ""): PageStatement => ({
  text: `SELECT n::int4, repeat('x"', n::int4) AS t, n / 8.0 AS m ${SERIES}${more}`,
  values: [String(LIMIT)],
  types: COLUMNS.map(({ oid }) => oid),
  replan: false,
  proof: { text: `SELECT '${VERSION}'::text FROM (SELECT $1::text) AS t`, values: [""] },
  areLong,
})

const rowsFor = (areLong: boolean) =>
  new RowsToJson({
    json: new RowJson(COLUMNS),
    position: new RowPosition("t", [], COLUMNS),
    limit: LIMIT,
    values: COLUMNS.length,
    areLong,
  })

const STATEMENTS: Readonly<Record<Way, ReadonlyArray<PageStatement>>> = {
  "at once": [statement(false)],
  "in lots": [statement(true)],
  // Two of them share one prepared statement.
  "in a group": [statement(false), statement(false, " WHERE n > 1"), statement(false)],
}

const pagesOf = (way: Way) => STATEMENTS[way].map((one) => ({ statement: one, rows: rowsFor(one.areLong) }))

/** How a read ends, and its rows. */
const read = async (session: WireSession, way: Way) => {
  const pages = pagesOf(way)
  const exit = await Effect.runPromiseExit(fromCall((call) => readPages(session, pages, call)))
  return {
    exit,
    items: pages.map(({ rows }) => rows.items().texts()),
    hasMore: pages.map(({ rows }) => rows.hasMore),
  }
}

type Read = Awaited<ReturnType<typeof read>>

const isRead = ({ exit }: Read): boolean => Exit.isSuccess(exit) && exit.value.outcome === "read"

let database: TestDatabase
/** What PostgreSQL sent in response to each write. */
const recorded = new Map<Way, ReadonlyArray<Buffer>>()
const expected = new Map<Way, Read>()
/** What the driver read after it. */
const behind = new Map<Way, unknown>()

beforeAll(async () => {
  database = await testDatabase({ empty: true })
  for (const way of WAYS) {
    const responses: Array<Buffer> = []
    const scope = Scope.makeUnsafe()
    const open = () => {
      const socket = connect(`${database.socketDir}/.s.PGSQL.5432`)
      const write = socket.write.bind(socket)
      socket.write = ((...args: Parameters<typeof write>) => {
        responses.push(Buffer.alloc(0))
        return write(...args)
      }) as typeof write
      socket.on("data", (chunk) => responses.push(Buffer.concat([responses.pop()!, chunk])))
      return socket
    }
    const wires = new Wires({ stream: open, direct: open })
    const connection = await Effect.runPromise(
      PgConnection.make({
        url: Redacted.make(database.url),
        username: ownerRole,
        ssl: false,
        stream: wires.stream(() => undefined),
      }).pipe(Scope.provide(scope)),
    )
    responses.length = 0
    expected.set(way, await read(wires.of(connection)!, way))
    recorded.set(way, [...responses])
    behind.set(way, await Effect.runPromise(connection.queryValues("SELECT 1")))
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
})
afterAll(() => database.drop())

/** A server that responds to each write with the given chunks. */
const replay = (responses: ReadonlyArray<ReadonlyArray<Buffer>>) => {
  const left = [...responses]
  const socket = new Duplex({
    read: () => undefined,
    write: (_chunk, _encoding, done) => {
      done()
      const chunks = left.shift() ?? []
      queueMicrotask(() => {
        for (const chunk of chunks) socket.push(chunk)
      })
    },
  })
  const wire = new Wire(socket, undefined, () => undefined)
  wire.on("error", () => undefined)
  const received: Array<Buffer> = []
  wire.on("data", (chunk: Buffer) => received.push(chunk))
  const cancels: Array<string> = []
  const session: WireSession = {
    wire,
    prepared: new PreparedStatements(),
    frames: new FrameReader(),
    cancel: () => void cancels.push("cancelled"),
  }
  return { session, wire, socket, received, cancels }
}

/** The responses, with one of them changed. */
const changed = (way: Way, at: number, chunks: (response: Buffer) => ReadonlyArray<Buffer>) =>
  recorded.get(way)!.map((response, index) => (index === at ? chunks(response) : [response]))

const frame = (letter: string, body: Uint8Array = Buffer.alloc(0), length = body.length + 4): Buffer => {
  const head = Buffer.alloc(5)
  head.write(letter, "latin1")
  head.writeInt32BE(length, 1)
  return Buffer.concat([head, body])
}

/** The positions where messages begin, and the end. */
const boundaries = (response: Buffer): ReadonlyArray<number> => {
  const starts: Array<number> = []
  let at = 0
  for (; at < response.length; at += response.readInt32BE(at + 1) + 1) starts.push(at)
  return [...starts, at]
}

const error = (code: string) => frame("E", Buffer.from(`SERROR\0VERROR\0C${code}\0Mspoiled\0\0`))
const NOTICE = frame("N", Buffer.from("SNOTICE\0C00000\0Msaid\0\0"))
const NOTIFICATION = frame("A", Buffer.from("\0\0\0\x01channel\0told\0", "latin1"))
const STATUS = frame("S", Buffer.from("TimeZone\0Asia/Tokyo\0"))

/** Messages that a server may send at any time. */
const HARMLESS = { NOTICE, NOTIFICATION, STATUS, long: frame("N", Buffer.alloc(200_000, "x")) }

const ALL = [..."RKS123ntTDCIsZEANGHWdcVvQ\0\xff"]

const BODIES: ReadonlyArray<Uint8Array> = [
  Buffer.alloc(0),
  Buffer.from([0, 0]),
  Buffer.from("I"),
  Buffer.from([0, 1, 0, 0, 0, 1, 0x78]),
  Buffer.from([0, 3, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 9, 0x78, 0xff, 0xff, 0xff, 0xff]),
  Buffer.from([0, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 2, 0, 0]),
  Buffer.alloc(70_000),
]

describe.each(WAYS)("pages that are read %s", (way) => {
  const areLong = way === "in lots"
  const responsesOf = () => recorded.get(way)!

  it("equals what PostgreSQL sent", () => {
    const page = expected.get(way)!
    expect(page.exit).toEqual(Exit.succeed({ outcome: "read", version: VERSION }))
    const items = (...numbers: ReadonlyArray<number>) =>
      numbers.map((n) => `{"int4":${n},"text":"${String.raw`x\"`.repeat(n)}","numeric":${(n / 8).toFixed(20)}}`)
    const isGroup = way === "in a group"
    expect(page.items).toEqual(isGroup ? [items(1, 2, 3), items(2, 3, 4), items(1, 2, 3)] : [items(1, 2, 3)])
    expect(page.hasMore).toEqual(isGroup ? [true, false, true] : [true])
    expect(behind.get(way)).toEqual([[1]])
    expect(responsesOf().length).toBe(areLong ? 4 : 1)
  })

  it("is the same wherever its packets are cut", async () => {
    for (const [at, response] of responsesOf().entries()) {
      for (let cut = 0; cut <= response.length; cut++) {
        const { session } = replay(changed(way, at, (whole) => [whole.subarray(0, cut), whole.subarray(cut)]))
        expect(await read(session, way), `cut at ${cut}`).toEqual(expected.get(way))
      }
      const bytes = replay(changed(way, at, (whole) => Array.from(whole, (byte) => Buffer.from([byte]))))
      expect(await read(bytes.session, way)).toEqual(expected.get(way))
    }
  })

  it("is the same with other server messages in between, and the driver gets what follows", async () => {
    for (const [name, said] of Object.entries(HARMLESS)) {
      for (const [at, response] of responsesOf().entries()) {
        for (const place of boundaries(response)) {
          const { session, received } = replay(
            changed(way, at, (whole) => [Buffer.concat([whole.subarray(0, place), said, whole.subarray(place)])]),
          )
          expect(await read(session, way), `${name} at ${place}`).toEqual(expected.get(way))
          const isBehind = at === responsesOf().length - 1 && place === response.length
          expect(Buffer.concat(received).equals(isBehind ? said : Buffer.alloc(0))).toBe(true)
        }
      }
    }
  })

  it("fails with the server's message, and returns no page, when an error arrives in between", async () => {
    for (const [at, response] of responsesOf().entries()) {
      const isSynced = at === responsesOf().length - 1
      for (const place of boundaries(response).slice(0, isSynced ? -1 : undefined)) {
        const ready = frame("Z", Buffer.from("I"))
        const failed = Buffer.concat([response.subarray(0, place), error("22012")])
        // PostgreSQL reports that it is ready only after Sync.
        const last = isSynced ? [[Buffer.concat([failed, ready])]] : [[failed], [ready]]
        const before = responsesOf().slice(0, at)
        const { session, wire } = replay([...before.map((one) => [one]), ...last])
        const { exit } = await read(session, way)
        expect(JSON.stringify(exit), `at ${place}`).toContain("spoiled")
        expect(wire.destroyed).toBe(false)
      }
    }
  })

  it("ends, and never returns a different page, with any protocol message at any point", async () => {
    for (const letter of ALL) {
      for (const [number, body] of BODIES.entries()) {
        for (const [at, response] of responsesOf().entries()) {
          for (const place of boundaries(response)) {
            const said = frame(letter, body)
            const { session, wire, socket } = replay(
              changed(way, at, (whole) => [whole.subarray(0, place), said, whole.subarray(place)]),
            )
            const reading = read(session, way)
            // What a server that misunderstood the client would finally do.
            setImmediate(() => socket.push(null)).unref()
            setImmediate(() => socket.destroy())
            const found = await reading
            const where = `${JSON.stringify(letter)} with body ${number} at ${place} of ${at}`
            if (isRead(found)) {
              const isRow = letter === "D" && number === 5
              if (!isRow) expect(found.items, where).toEqual(expected.get(way)!.items)
            } else if (Exit.isFailure(found.exit)) expect(wire.destroyed || letter === "E", where).toBe(true)
            else expect(found.exit.value.outcome, where).not.toBe("read")
          }
        }
      }
    }
  })

  it("fails if a message's length is invalid, or if the connection ends", async () => {
    for (const [at, response] of responsesOf().entries()) {
      for (const place of boundaries(response).slice(0, -1)) {
        for (const length of [0, 3, -1, 0x7fff_ffff]) {
          const bad = frame("C", Buffer.alloc(0), length)
          const { session, wire } = replay(changed(way, at, (whole) => [whole.subarray(0, place), bad]))
          expect(Exit.isFailure((await read(session, way)).exit), `${length} at ${place}`).toBe(true)
          expect(wire.destroyed).toBe(true)
        }
        const ending = replay(changed(way, at, (whole) => [whole.subarray(0, place + 3)]))
        setImmediate(() => ending.socket.destroy())
        expect(Exit.isFailure((await read(ending.session, way)).exit)).toBe(true)
      }
    }
  })

  it("is cancelled when its caller stops waiting, and awaited until the session is idle", async () => {
    const [first] = responsesOf()
    for (const confirmed of [true, false]) {
      for (const place of boundaries(first!).slice(0, -1)) {
        const { session, wire, socket, cancels } = replay([[first!.subarray(0, place)]])
        const reading = Effect.runFork(fromCall((call) => readPages(session, pagesOf(way), call)))
        await new Promise(setImmediate)
        session.cancel = (() => {
          cancels.push("cancelled")
          socket.push(confirmed ? error("57014") : first!.subarray(place))
          if (confirmed || areLong) socket.push(frame("Z", Buffer.from("I")))
        }) as WireSession["cancel"]
        await Effect.runPromise(Fiber.interrupt(reading))
        expect(cancels).toEqual(["cancelled"])
        // An unconfirmed cancel request may still hit the next statement.
        expect(wire.destroyed).toBe(!confirmed)
      }
    }
  })
})
