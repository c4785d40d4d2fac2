/**
 * Rows that the database refuses because of its surroundings: the event is complete, no other row waits, `doctor` names
 * the event with the database's message, and the row is completed once the cause is gone.
 */
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Diagnostics } from "@data-cabinet/core/diagnostics/Diagnostics"
import { findingsOf } from "@data-cabinet/core/diagnostics/Findings"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { EventDetail } from "@data-cabinet/core/event/EventDetail"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { type Json, JsonNumber } from "@data-cabinet/core/json/Json"
import { Sources } from "@data-cabinet/core/source/Sources"
import { drainDeferredRows } from "@data-cabinet/store-pg/row/DeferredRows"
import { Effect, Option } from "effect"
import { afterAll, assert, beforeAll, beforeEach, it, onTestFinished, vi } from "vitest"
import { stopClock } from "../../../../test/support/stoppedClock.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { ownerRole, superuser } from "../../../../test/support/postgresAdmin.ts"

const database = withDatabase()
let store: ReturnType<typeof testCabinet>
beforeAll(() => {
  store = testCabinet(database.url)
})
afterAll(() => store.dispose())
beforeEach(() => database.run("UPDATE cabinet.clock SET shift = '0'"))

type Fields = Readonly<Record<string, string | number>>

const payloadOf = (fields: Fields) =>
  new Map<string, Json>(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === "number" ? new JsonNumber(String(value)) : value,
    ]),
  )

const accept = async (sourceId: number, fields: Fields): Promise<number> => {
  const source = Option.getOrThrow(await store.runPromise(Sources.use((sources) => sources.forIntake(sourceId))))
  const receipts = await store.runPromise(
    EventLog.use((log) =>
      appendEvents(log, {
        sourceId,
        sourceVersion: source.version,
        channel: "webhook",
        history: false,
        events: [{ ...fingerprintedEvent(payloadOf(fields)), fingerprint: null }],
        original: null,
      }),
    ),
  )
  return receipts[0]!.id
}

const newSource = async (name: string) => {
  const { id, table } = await store.runPromise(Sources.use((sources) => sources.create({ name })))
  return { id, table: `sources.${table!.name}` }
}
const drain = () => store.runPromise(drainDeferredRows)
const examine = () => store.runPromise(Diagnostics.use((diagnostics) => diagnostics.examine))
const rowOf = async (table: string, id: number): Promise<Fields | undefined> => {
  const [row] = await database.run(`SELECT to_json(t) AS row FROM ${table} t WHERE _event_id = ${id}`)
  if (row === undefined) return undefined
  const { _event_id, _received_at, ...fields } = row["row"] as Record<string, string | number | null>
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Fields
}
const asideOf = async (eventId: number) =>
  (await database.run(`SELECT * FROM cabinet.row_set_aside WHERE event_id = ${eventId}`))[0]
const UNTIL = { timeout: 100_000, interval: 50 }
const untilAside = (id: number) => vi.waitUntil(async () => (await drain(), await asideOf(id)), UNTIL)
const later = (interval: string) => database.run(`UPDATE cabinet.clock SET shift = shift + '${interval}'`)

interface Cause {
  readonly spoil: ReadonlyArray<(table: string) => string>
  readonly mend: ReadonlyArray<(table: string) => string>
  /** The database's message. */
  readonly words: RegExp
  /** The event whose row is refused; every source already has one of {a: 1, e: "x"}. */
  readonly poisoned: Fields
  /** The contents of its row meanwhile; undefined: no row. */
  readonly partly?: Fields
  /** Another event of the source, unless none of its rows can be written. */
  readonly honest?: Fields
}

/** Replaces a source's table by one with the same rows and these additional columns. */
const replaced = (columns: string): ReadonlyArray<(table: string) => string> => [
  (table) => `ALTER TABLE ${table} RENAME TO old`,
  (table) =>
    `CREATE TABLE ${table} (_event_id bigint PRIMARY KEY, _received_at timestamptz NOT NULL, a numeric, e text${columns})`,
  (table) => `ALTER TABLE ${table} OWNER TO ${ownerRole}`,
  (table) => `INSERT INTO ${table} SELECT _event_id, _received_at, a, e FROM sources.old`,
  () => "DROP TABLE sources.old",
]

const CAUSES: Record<string, Cause> = {
  "a check constraint of the operator's": {
    spoil: [(table) => `ALTER TABLE ${table} ADD CONSTRAINT mine CHECK (a < 100)`],
    mend: [(table) => `ALTER TABLE ${table} DROP CONSTRAINT mine`],
    words: /violates check constraint "mine"/,
    poisoned: { a: 500, e: "y" },
    honest: { a: 2, e: "z" },
  },
  "a unique index of the operator's": {
    spoil: [(table) => `CREATE UNIQUE INDEX mine ON ${table} (e)`],
    mend: [() => "DROP INDEX sources.mine"],
    words: /violates unique constraint "mine"/,
    poisoned: { a: 6, e: "x" },
    honest: { a: 2, e: "z" },
  },
  "a trigger of the operator's": {
    spoil: [
      () =>
        "CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.a = 6 THEN RAISE 'no sixes'; END IF; RETURN NEW; END $$",
      (table) => `CREATE TRIGGER mine BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION public.refuse()`,
    ],
    mend: [(table) => `DROP TRIGGER mine ON ${table}`],
    words: /no sixes/,
    poisoned: { a: 6, e: "y" },
    honest: { a: 2, e: "z" },
  },
  "a trigger of the operator's that discards rows": {
    spoil: [
      () =>
        "CREATE FUNCTION public.discard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.a = 6 THEN RETURN NULL; END IF; RETURN NEW; END $$",
      (table) => `CREATE TRIGGER mine BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION public.discard()`,
    ],
    mend: [(table) => `DROP TRIGGER mine ON ${table}`],
    words: /the table took no row/,
    poisoned: { a: 6, e: "y" },
    honest: { a: 2, e: "z" },
  },
  "a rule of the operator's that discards rows": {
    spoil: [(table) => `CREATE RULE mine AS ON INSERT TO ${table} DO INSTEAD NOTHING`],
    mend: [(table) => `DROP RULE mine ON ${table}`],
    words: /cannot perform INSERT RETURNING on relation/,
    poisoned: { a: 6, e: "y" },
  },
  "a foreign key of the operator's": {
    spoil: [
      () => "CREATE TABLE public.kinds (a numeric PRIMARY KEY)",
      () => "INSERT INTO public.kinds VALUES (1), (2)",
      (table) => `ALTER TABLE ${table} ADD CONSTRAINT mine FOREIGN KEY (a) REFERENCES public.kinds`,
    ],
    mend: [(table) => `ALTER TABLE ${table} DROP CONSTRAINT mine`],
    words: /violates foreign key constraint "mine"/,
    poisoned: { a: 6, e: "y" },
    honest: { a: 2, e: "z" },
  },
  "a required column of the operator's": {
    spoil: [
      (table) => `ALTER TABLE ${table} ADD COLUMN mine int NOT NULL DEFAULT 1`,
      (table) => `ALTER TABLE ${table} ALTER COLUMN mine DROP DEFAULT`,
    ],
    mend: [(table) => `ALTER TABLE ${table} DROP COLUMN mine`],
    words: /null value in column "mine"/,
    poisoned: { a: 6, e: "y" },
  },
  "an exclusion constraint of the operator's": {
    spoil: [(table) => `ALTER TABLE ${table} ADD CONSTRAINT mine EXCLUDE (e WITH =)`],
    mend: [(table) => `ALTER TABLE ${table} DROP CONSTRAINT mine`],
    words: /conflicting key value violates exclusion constraint "mine"/,
    poisoned: { a: 6, e: "x" },
    honest: { a: 2, e: "z" },
  },
  "another owner after a restore": {
    spoil: [(table) => `ALTER TABLE ${table} OWNER TO ${superuser}`],
    mend: [(table) => `ALTER TABLE ${table} OWNER TO ${ownerRole}`],
    words: /permission denied for table/,
    poisoned: { a: 6, e: "y" },
  },
  "another owner that lets rows be written, but no columns be added": {
    spoil: [
      (table) => `ALTER TABLE ${table} OWNER TO ${superuser}`,
      (table) => `GRANT ALL ON ${table} TO ${ownerRole}`,
    ],
    mend: [(table) => `ALTER TABLE ${table} OWNER TO ${ownerRole}`],
    words: /must be owner of table/,
    poisoned: { a: 6, news: "n" },
    partly: { a: 6 },
    honest: { a: 2, e: "z" },
  },
  "an event trigger that freezes DDL": {
    spoil: [
      () =>
        "CREATE FUNCTION public.frozen() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the schema is frozen'; END $$",
      () =>
        "CREATE EVENT TRIGGER frozen ON ddl_command_start WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION public.frozen()",
    ],
    mend: [() => "DROP EVENT TRIGGER frozen"],
    words: /the schema is frozen/,
    poisoned: { a: 6, news: "n", e: "y" },
    partly: { a: 6, e: "y" },
    honest: { a: 2, e: "z" },
  },
  "1,600 columns, counted with dropped ones": {
    // One was dropped, but still counts.
    spoil: [
      ...replaced(Array.from({ length: 1_596 }, (_, n) => `, x${n} bool`).join("")),
      (table) => `ALTER TABLE ${table} DROP COLUMN x7`,
    ],
    mend: replaced(""),
    words: /at most 1600 columns/,
    poisoned: { a: 6, news: "n" },
    partly: { a: 6 },
    honest: { a: 2, e: "z" },
  },
  "a column that was dropped by hand": {
    spoil: [(table) => `ALTER TABLE ${table} DROP COLUMN e`],
    mend: [(table) => `ALTER TABLE ${table} ADD COLUMN e text`],
    words: /column "e" .*does not exist/,
    poisoned: { a: 6, e: "y" },
    partly: { a: 6 },
    honest: { a: 2 },
  },
}

it.each(Object.keys(CAUSES))("a row is set aside, and completed once the cause is gone: %s", async (name) => {
  const { spoil, mend, words, poisoned, partly, honest } = CAUSES[name]!
  const { id, table } = await newSource("Spoiled")
  const neighbour = await newSource("Neighbour")
  await accept(id, { a: 1, e: "x" })
  await accept(neighbour.id, { a: 0 })
  for (const statement of spoil) await database.run(statement(table))
  const refused = await accept(id, poisoned)
  const beside = await accept(neighbour.id, { a: 1 })
  assert.deepStrictEqual(await rowOf(neighbour.table, beside), { a: 1 })
  await untilAside(refused)
  // Never an empty row: none, or one with all fields that have a column.
  assert.deepStrictEqual(await rowOf(table, refused), partly)
  if (honest !== undefined) {
    const written = await accept(id, honest)
    await vi.waitUntil(async () => (await drain(), await rowOf(table, written)), UNTIL)
    assert.deepStrictEqual(await rowOf(table, written), honest)
  }

  const report = await examine()
  assert.strictEqual(report.rowsSetAside.count, 1)
  const [first] = report.rowsSetAside.first
  assert.deepInclude(first, { eventId: refused, sourceId: id, refused: true, partial: partly !== undefined })
  assert.match(first!.reason, words)
  const gauge = await store.runPromise(DeliveryQueue.use((queue) => queue.gauge))
  const found = findingsOf({ diagnostics: report, gauge }).find(
    ({ level, check }) => level === "bad" && check === "rows",
  )!.message
  assert.include(found, `event ${refused} of source ${id}`)
  assert.match(found, words)
  const detail = await store.runPromise(EventDetail.use((details) => details.find(refused)))
  assert.match(Option.getOrThrow(detail).rowSetAside!, words)

  for (const statement of mend) await database.run(statement(table))
  await later("6 seconds")
  await vi.waitUntil(async () => (await drain(), (await asideOf(refused)) === undefined), UNTIL)
  assert.deepStrictEqual(await rowOf(table, refused), poisoned)
  assert.strictEqual((await examine()).rowsSetAside.count, 0)
  await store.runPromise(Sources.use((sources) => sources.remove(id, "drop")))
})

it("a batch whose rows a trigger discards in part defers those, and writes the others at once", async () => {
  const { id, table } = await newSource("Sieve")
  await accept(id, { a: 1 })
  await database.run(
    "CREATE OR REPLACE FUNCTION public.sieve() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.a % 2 = 0 THEN RETURN NULL; END IF; RETURN NEW; END $$",
  )
  await database.run(`CREATE TRIGGER mine BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION public.sieve()`)
  const neighbour = await newSource("Beside")
  const accepted = await Promise.all(
    Array.from({ length: 20 }, (_, n) => Promise.all([accept(id, { a: n }), accept(neighbour.id, { a: n })])),
  )
  for (const [n, [sieved, beside]] of accepted.entries()) {
    assert.deepStrictEqual(await rowOf(neighbour.table, beside), { a: n })
    if (n % 2 === 0) await untilAside(sieved)
    else await vi.waitUntil(async () => (await drain(), await rowOf(table, sieved)), UNTIL)
  }
  const aside = await database.run(`SELECT source_id::int AS id, count(*)::int FROM cabinet.row_set_aside GROUP BY 1`)
  assert.deepStrictEqual(aside, [{ id, count: 10 }])
  await store.runPromise(Sources.use((sources) => sources.remove(id, "drop")))
})

it("a trigger that moves rows into an inheriting table keeps them, once each", async () => {
  const { id, table } = await newSource("Moved")
  await accept(id, { a: 1 })
  await database.run(`CREATE TABLE public.moved () INHERITS (${table})`)
  await database.run(`ALTER TABLE public.moved OWNER TO ${ownerRole}`)
  await database.run(
    "CREATE FUNCTION public.move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.moved SELECT NEW.*; RETURN NULL; END $$",
  )
  await database.run(`CREATE TRIGGER mine BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION public.move()`)
  const moved = await accept(id, { a: 2 })
  await drain()
  await drain()
  assert.deepStrictEqual(await database.run(`SELECT a::int FROM ${table} WHERE _event_id = ${moved}`), [{ a: 2 }])
  assert.isUndefined(await asideOf(moved))
  assert.strictEqual((await examine()).deferredRows, 0)
})

it("a row that stays refused is retried at intervals that double up to an hour", async () => {
  const runAgain = await stopClock(database.run)
  onTestFinished(async () => void (await runAgain()))
  const { id, table } = await newSource("Stubborn")
  await accept(id, { a: 1 })
  await database.run(`ALTER TABLE ${table} ADD CONSTRAINT mine CHECK (a < 100)`)
  const refused = await accept(id, { a: 500 })
  await untilAside(refused)
  const seconds: Array<number> = []
  for (let attempt = 1; attempt <= 12; attempt++) {
    const [aside] = await database.run(
      `SELECT attempts, round(extract(epoch FROM retry_at - cabinet.now()))::int AS seconds, retry_at - cabinet.now() AS wait
       FROM cabinet.row_set_aside WHERE event_id = ${refused}`,
    )
    assert.strictEqual(aside!["attempts"], attempt)
    seconds.push(aside!["seconds"] as number)
    await database.run(
      `UPDATE cabinet.clock SET shift = shift + (SELECT retry_at - cabinet.now() FROM cabinet.row_set_aside WHERE event_id = ${refused})`,
    )
    await vi.waitUntil(async () => (await drain(), (await asideOf(refused))!["attempts"] !== attempt), UNTIL)
  }
  const doubled = Array.from({ length: 12 }, (_, n) => Math.min(3_600, 5 * 2 ** n))
  assert.deepStrictEqual(seconds, doubled)
})

it("rows with one cause follow as soon as one of them is written, and keep an operator's changes", async () => {
  const { id, table } = await newSource("Frozen")
  await accept(id, { a: 1 })
  await database.run(`ALTER TABLE ${table} OWNER TO ${superuser}`)
  await database.run(`GRANT ALL ON ${table} TO ${ownerRole}`)
  const refused: Array<number> = []
  for (let n = 0; n < 30; n++) refused.push(await accept(id, { a: n, news: `n${n}` }))
  for (const one of refused) await untilAside(one)
  await database.run(`UPDATE ${table} SET a = 77 WHERE _event_id = ${refused[3]}`)
  await database.run(`UPDATE cabinet.row_set_aside SET retry_at = cabinet.now() + interval '1 hour'`)
  await database.run(`UPDATE cabinet.row_set_aside SET retry_at = cabinet.now() WHERE event_id = ${refused[9]}`)
  await database.run(`ALTER TABLE ${table} OWNER TO ${ownerRole}`)
  const left = () => database.run(`SELECT 1 FROM cabinet.row_set_aside WHERE source_id = ${id}`)
  await vi.waitUntil(async () => (await drain(), (await left()).length === 0), UNTIL)
  for (const [n, one] of refused.entries()) {
    assert.deepStrictEqual(await rowOf(table, one), { a: n === 3 ? 77 : n, news: `n${n}` })
  }
})

it("a process that starts, as after a migration, retries set-aside rows at once", async () => {
  const { id, table } = await newSource("Migrated")
  await accept(id, { a: 1 })
  await database.run(`ALTER TABLE ${table} ADD CONSTRAINT mine CHECK (a < 100)`)
  const refused = await accept(id, { a: 500 })
  await untilAside(refused)
  await database.run(`UPDATE cabinet.row_set_aside SET retry_at = cabinet.now() + interval '1 hour'`)
  await database.run(`ALTER TABLE ${table} DROP CONSTRAINT mine`)
  const started = testCabinet(database.url)
  await started.runPromise(Effect.void)
  await vi.waitUntil(async () => await rowOf(table, refused), UNTIL)
  await started.dispose()
  assert.deepStrictEqual(await rowOf(table, refused), { a: 500 })
})
