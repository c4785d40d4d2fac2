/**
 * Why a page of rows, or a group of pages, can be trusted: its statement is followed, before the one Sync, by the proof
 * that the table is still as it was when the page was planned. Both run in one implicit transaction, so the page's lock
 * is still held when the proof takes its snapshot. A page read under another definition is never proven.
 *
 * `RACE_ROUNDS=20000` runs many more rounds than the suite does.
 */
import { PgProtocol } from "@effect/sql-pg"
import { readVersionOf } from "@data-cabinet/store-pg/row/CatalogStatement"
import { PROOF } from "@data-cabinet/store-pg/row/ReadStatement"
import { Result } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { execute, type Message, parse, type WireSession, wireSession } from "../../../../test/support/wireSession.ts"
import { type Random, randomFrom } from "./random.ts"
import { openReading, type Reading } from "./reading.ts"

const ROUNDS = Number(process.env["RACE_ROUNDS"] ?? 400)
const READERS = 3

let reading: Reading
beforeAll(async () => {
  reading = await openReading()
})
afterAll(() => reading.close())

const READ_ONLY = { default_transaction_read_only: "on" }
const SYNC = PgProtocol.encodeSync()
const FLUSH = PgProtocol.encodeFlush()

/** The table's definition, which its own rows repeat: every change made here also updates the rows. */
const COLUMNS = `(SELECT string_agg(concat(a.attname, ' ', a.atttypid), ', ' ORDER BY a.attnum)
  FROM pg_catalog.pg_attribute a WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped)`

const TOLD = `concat(t.oid, ' ', t.relacl, ': ', ${COLUMNS})`

const TELL = `UPDATE public.raced SET told = (
  SELECT ${TOLD} FROM pg_catalog.pg_class t WHERE t.oid = 'public.raced'::regclass);`

const CREATE = (type: string) =>
  `CREATE TABLE public.raced (id int PRIMARY KEY, told text, a ${type}, b int);
   INSERT INTO public.raced SELECT n, '', n::text::${type}, -n FROM generate_series(1, 5) n;`

/** Statements in one transaction, each of which also updates the rows before it ends. */
const change = (...statements: ReadonlyArray<string>) =>
  reading.run(`DO $do$ BEGIN ${statements.join(" ")} ${TELL} END $do$`)

interface Found {
  readonly oid: string
  readonly proof: string
  readonly told: string
  readonly columns: ReadonlyArray<string>
}

/** The table as seen by one statement. */
const find = async (): Promise<Found | undefined> => {
  const [row] = await reading.run(
    `SELECT t.oid::text AS oid, ${readVersionOf("t.oid")} AS proof, ${COLUMNS} AS columns, ${TOLD} AS told
     FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
     WHERE n.nspname = 'public' AND t.relname = 'raced'`,
  )
  if (row === undefined) return undefined
  const [oid, proof, told, columns] = [row["oid"], row["proof"], row["told"], row["columns"]].map(String)
  return { oid: oid!, proof: proof!, told: told!, columns: columns!.split(", ").map((one) => one.split(" ")[0]!) }
}

/** One of several pages, each with its own statement. */
const pageOf = ({ columns }: Found, limit = 11): string =>
  `SELECT told, ${columns.map((name) => `"${name}"`).join(", ")} FROM public.raced ORDER BY id LIMIT ${limit}`

/** Sessions like a reader's: each statement is prepared once, and discarded when it no longer fits. */
class Reader {
  readonly #session: WireSession
  readonly #prepared = new Map<string, string>()
  #names = 0

  constructor(session: WireSession) {
    this.#session = session
  }

  static async open(): Promise<Reader> {
    const session = await wireSession(reading.database, reading.readerRole, READ_ONLY)
    return new Reader(session)
  }

  /** Pages and the proof after them, in one write. */
  async read(found: Found, count: number) {
    const texts = Array.from({ length: count }, (_, index) => pageOf(found, 11 + index))
    const frames: Array<Uint8Array> = []
    const nameOf = (statement: string) => {
      const known = this.#prepared.get(statement)
      if (known !== undefined) return known
      const name = `s${(this.#names += 1)}`
      this.#prepared.set(statement, name)
      frames.push(parse(name, statement))
      return name
    }
    const pages = texts.map(nameOf)
    const isProofKnown = this.#prepared.has(PROOF)
    const proof = nameOf(PROOF)
    this.#session.send(...frames, ...pages.map((page) => execute(page)), execute(proof, found.oid), SYNC)
    const messages = await this.#session.until("ReadyForQuery")
    const failure = messages.find((message) => message._tag === "ErrorResponse")
    if (failure !== undefined) {
      for (const text of texts) this.#prepared.delete(text)
      const closes = pages.map((name) => PgProtocol.encodeClose({ target: "statement", name }))
      this.#session.send(...closes, SYNC)
      await this.#session.until("ReadyForQuery")
      if (!isProofKnown) this.#prepared.delete(PROOF)
    }
    return outcomeOf(messages)
  }

  end(): void {
    this.#session.end()
  }
}

const valuesOf = (message: Message): ReadonlyArray<Buffer | null> =>
  message._tag === "DataRow" ? message.values.map((value) => (value === null ? null : Buffer.from(value))) : []

/** The rows of the page and their proof, or the reason why there are none. */
const outcomeOf = (messages: ReadonlyArray<Message>) => {
  const failure = messages.find((message) => message._tag === "ErrorResponse")
  if (failure?._tag === "ErrorResponse") return { failure: failure.fields.code, rows: [], proof: undefined }
  const rows = messages.filter(({ _tag }) => _tag === "DataRow").map(valuesOf)
  return { failure: undefined, rows: rows.slice(0, -1), proof: rows.at(-1)?.[0]?.toString() }
}

const OIDS: Readonly<Record<string, number>> = { integer: 23, bigint: 20, text: 25, numeric: 1700 }

const TYPES = ["int4", "int8", "text", "numeric"]

/** A change with the strongest lock or none, chosen at random. */
const changes = (random: Random): ReadonlyArray<() => ReadonlyArray<string>> => {
  const type = () => random.pick(TYPES)
  return [
    () => {
      const next = type()
      return [
        `ALTER TABLE public.raced ALTER a TYPE text; ALTER TABLE public.raced ALTER a TYPE ${next} USING a::${next};`,
      ]
    },
    () => [
      `ALTER TABLE public.raced RENAME a TO other; ALTER TABLE public.raced RENAME b TO a; ALTER TABLE public.raced RENAME other TO b;`,
    ],
    () => [`ALTER TABLE public.raced ADD IF NOT EXISTS c ${type()} DEFAULT '7';`],
    () => [`ALTER TABLE public.raced DROP IF EXISTS c;`],
    () => [`DROP TABLE public.raced;`, CREATE(type())],
    () => [`ALTER TABLE public.raced RENAME TO raced_before;`, CREATE(type()), `DROP TABLE public.raced_before;`],
    () => [`REVOKE SELECT ON public.raced FROM PUBLIC;`],
    () => [`GRANT SELECT ON public.raced TO PUBLIC;`],
    () => [`COMMENT ON TABLE public.raced IS '${random.below(1_000)}';`],
  ]
}

/** Changes the table for the required time. */
const changeOn = async (random: Random, goesOn: () => boolean) => {
  while (goesOn()) {
    const next = random.pick(changes(random))()
    // A new table is readable for everybody, or not yet for anybody.
    const rights = random.chance(0.5) ? `GRANT SELECT ON public.raced TO PUBLIC;` : ""
    await change(...next, `REVOKE ALL ON public.raced FROM "${reading.readerRole}";`, rights)
    if (random.chance(0.3)) await change(`GRANT SELECT ON public.raced TO PUBLIC;`)
    for (let turns = random.below(40); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
  }
}

describe("the proof behind a page", () => {
  beforeEach(() =>
    reading.run(`DO $do$ BEGIN DROP TABLE IF EXISTS public.raced; ${CREATE("int4")}
      REVOKE ALL ON public.raced FROM "${reading.readerRole}"; GRANT SELECT ON public.raced TO PUBLIC; ${TELL} END $do$`),
  )

  it.each([1, 3])(
    "proves none of %i pages that were read under another definition, whatever changes the table",
    async (pages) => {
      const random = randomFrom(Number(process.env["SEED"] ?? 1))
      const counts = { proven: 0, stale: 0, failed: 0 }
      const wrong: Array<unknown> = []
      let reads = 0
      const readOnce = async (reader: Reader, found: Found) => {
        const outcome = await reader.read(found, pages)
        if (outcome.failure !== undefined) counts.failed++
        else if (outcome.proof !== found.proof) counts.stale++
        else {
          counts.proven++
          const told = outcome.rows.map(([first]) => first?.toString())
          if (told.length !== 5 * pages || told.some((one) => one !== found.told)) wrong.push({ found, told })
        }
      }
      const first = await Reader.open()
      const found = (await find())!
      // Every outcome once; which ones a race has, is chance.
      await readOnce(first, found)
      await change(`COMMENT ON TABLE public.raced IS 'changed';`)
      await readOnce(first, found)
      await change(`ALTER TABLE public.raced DROP b;`)
      await readOnce(first, found)
      first.end()
      expect(counts).toEqual({ proven: 1, stale: 1, failed: 1 })
      await change(`ALTER TABLE public.raced ADD b int;`)
      const readOn = async () => {
        const reader = await Reader.open()
        while (reads < ROUNDS) {
          const known = await find()
          if (known === undefined) continue
          for (let turns = random.below(6); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
          reads++
          await readOnce(reader, known)
        }
        reader.end()
      }
      await Promise.all([changeOn(random, () => reads < ROUNDS), ...Array.from({ length: READERS }, readOn)])
      if (process.env["RACE_ROUNDS"] !== undefined) console.log(counts)
      expect(wrong).toEqual([])
    },
  )

  it.each([
    ["by itself", READERS],
    // More than the sessions that an object may have.
    ["in groups", 24],
  ])("lets no page read %s show columns that its rows were not read with", async (_how, readers) => {
    const random = randomFrom(Number(process.env["SEED"] ?? 2))
    const counts = { read: 0, refused: 0 }
    const wrong: Array<unknown> = []
    let reads = 0
    const readOnce = async () => {
      const page = await reading.page("raced", [["hide", "id"]])
      if (Result.isFailure(page)) {
        counts.refused++
        return
      }
      counts.read++
      const { columns, items } = page.success
      const shown = columns.map(({ name, type }) => `${name} ${OIDS[type]}`).join(", ")
      const told = items.map((item) => String(JSON.parse(item).told).split(": id 23, ")[1])
      if (told.length !== 5 || told.some((one) => one !== shown)) wrong.push({ shown, items })
    }
    const readOn = async () => {
      while (reads < ROUNDS) {
        reads++
        await readOnce()
      }
    }
    await readOnce()
    expect(counts).toEqual({ read: 1, refused: 0 })
    await Promise.all([changeOn(random, () => reads < ROUNDS), ...Array.from({ length: readers }, readOn)])
    if (process.env["RACE_ROUNDS"] !== undefined) console.log(counts)
    expect(wrong).toEqual([])
  })

  it.each([
    ["another type", `ALTER TABLE public.raced ALTER a TYPE text`],
    ["another name of a column", `ALTER TABLE public.raced RENAME a TO other`],
    ["another column", `ALTER TABLE public.raced ADD c int`],
    ["a column less", `ALTER TABLE public.raced DROP b`],
    ["another name", `ALTER TABLE public.raced RENAME TO elsewhere`],
    ["another schema", `ALTER TABLE public.raced SET SCHEMA elsewhere`],
    ["a policy", `CREATE POLICY few ON public.raced USING (id = 1)`],
    ["row security", `ALTER TABLE public.raced ENABLE ROW LEVEL SECURITY`],
    ["its end", `DROP TABLE public.raced`],
    ["no rows", `TRUNCATE public.raced`],
  ])("makes %s wait until the proof has been read", async (_what, statement) => {
    await reading.asBefore(`CREATE SCHEMA IF NOT EXISTS elsewhere`)
    const { found, session, proven } = await afterPage()
    const changed = reading.run(statement)
    await waiting()
    session.send(execute("proof", found.oid), SYNC)
    expect(await proven()).toBe(found.proof)
    await changed
    await reading.run(`DROP TABLE IF EXISTS elsewhere.raced, public.elsewhere`)
    session.end()
  })

  it.each([
    ["a right less", `REVOKE SELECT ON public.raced FROM PUBLIC`],
    ["an index", `CREATE INDEX ON public.raced ((a + b))`],
    ["statistics", `CREATE STATISTICS public.raced_statistics ON a, b FROM public.raced`],
    ["a comment", `COMMENT ON COLUMN public.raced.a IS 'said'`],
  ])("shows %s that the page's lock lets pass", async (_what, statement) => {
    const { found, session, proven } = await afterPage()
    await reading.run(statement)
    session.send(execute("proof", found.oid), SYNC)
    expect(await proven()).not.toBe(found.proof)
    session.end()
  })

  /** A session that has sent a page, but neither its proof nor Sync. */
  const afterPage = async () => {
    const found = (await find())!
    const session = await wireSession(reading.database, reading.readerRole, READ_ONLY)
    session.send(parse("page", pageOf(found)), parse("proof", PROOF), execute("page"), FLUSH)
    await session.until("CommandComplete")
    const proven = async () => {
      const messages = await session.until("ReadyForQuery")
      return messages
        .map(valuesOf)
        .find((values) => values.length > 0)?.[0]
        ?.toString()
    }
    return { found, session, proven }
  }

  const waiting = async () => {
    for (;;) {
      const rows = await reading.database.run(
        `SELECT FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      )
      if (rows.length > 0) return
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
})
