/**
 * Dependents of a source's column prevent a change of its type: each is named with what to do, and nothing is changed.
 * Objects that PostgreSQL rebuilds itself are no obstacle. Code in a view holds the table only for a limited time.
 */
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { Sources } from "@data-cabinet/core/source/Sources"
import { ensureRoles } from "@data-cabinet/store-pg/migrations/PgRoles"
import * as PgSourceColumnStore from "@data-cabinet/store-pg/row/PgSourceColumnStore"
import { Effect, Layer, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { testCabinetLayer } from "../../../../test/support/testCabinet.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { runSql } from "../../../../test/support/postgresAdmin.ts"

const open = (url: string) =>
  ManagedRuntime.make(
    Layer.fresh(SourceColumns.layer).pipe(
      Layer.provide(PgSourceColumnStore.layerWith(1_000)),
      Layer.provideMerge(testCabinetLayer(url)),
    ),
  )
const database = withDatabase()
let store: ReturnType<typeof open>
let authorUrl = ""

const author = (statement: string) => runSql(authorUrl, statement)
const superuser = (statement: string) => database.run(statement)

beforeAll(async () => {
  store = open(database.url)
  const roles = await store.runPromise(ensureRoles({ url: database.url }))
  if (!roles.author.there) throw new Error(roles.author.reason)
  authorUrl = roles.author.url
})
afterAll(() => store.dispose())

let sources = 0
const newSource = async () => {
  const source = await store.runPromise(Sources.use((all) => all.create({ name: `S${sources++}` })))
  await post(source.id, "5")
  return { id: source.id, table: `sources.${source.table!.name}` }
}
const post = async (sourceId: number, amount: string) => {
  const known = await store.runPromise(Sources.use((all) => all.forIntake(sourceId)))
  if (known._tag === "None") throw new Error("no source")
  const event = fingerprintedEvent(new Map(Object.entries({ amount, note: "n" })))
  const request = {
    sourceId,
    sourceVersion: known.value.version,
    channel: "webhook" as const,
    history: false,
    events: [{ ...event, fingerprint: null }],
    original: null,
  }
  return store.runPromise(EventLog.use((log) => appendEvents(log, request)))
}

const retype = (id: number) =>
  store.runPromise(Effect.result(SourceColumns.use((all) => all.retype(id, "amount", "numeric", { withViews: true }))))

const typeOf = async (table: string) =>
  (
    await superuser(`SELECT format_type(atttypid, NULL) AS type FROM pg_attribute
    WHERE attrelid = '${table}'::regclass AND attname = 'amount'`)
  )[0]!["type"]

const inTheWay: ReadonlyArray<
  readonly [what: string, make: (table: string) => ReadonlyArray<string>, named: RegExp, as?: typeof superuser]
> = [
  [
    "a function whose body PostgreSQL has parsed",
    (table) => [
      `CREATE FUNCTION public.total() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(amount) FROM ${table}; END`,
    ],
    /function public\.total\(\)/,
  ],
  [
    "such a function upon a view",
    (table) => [
      `CREATE VIEW public.amounts AS SELECT amount FROM ${table}`,
      `CREATE FUNCTION public.total() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM public.amounts; END`,
    ],
    /function public\.total\(\)/,
  ],
  [
    "a column of the table's row type",
    (table) => [`CREATE TABLE public.kept (whole ${table})`],
    /column whole of table public\.kept/,
  ],
  [
    "a column of an array of its row type",
    (table) => [`CREATE TABLE public.kept (whole ${table}[])`],
    /column whole of table public\.kept/,
  ],
  [
    "a column of a domain over its row type",
    (table) => [`CREATE DOMAIN public.wrapped AS ${table}`, `CREATE TABLE public.kept (whole public.wrapped)`],
    /column whole of table public\.kept/,
  ],
  [
    "a column of a type that holds its row type",
    (table) => [`CREATE TYPE public.holder AS (whole ${table})`, `CREATE TABLE public.kept (held public.holder)`],
    /column held of table public\.kept/,
  ],
  [
    "a materialized view of whole rows",
    (table) => [`CREATE MATERIALIZED VIEW public.kept AS SELECT s AS whole FROM ${table} s`],
    /column whole of materialized view public\.kept/,
  ],
  [
    "a column of a view's row type",
    (table) => [
      `CREATE VIEW public.amounts AS SELECT amount FROM ${table}`,
      `CREATE TABLE public.kept (whole public.amounts)`,
    ],
    /column whole of table public\.kept/,
  ],
  [
    "a function that takes a view's row",
    (table) => [
      `CREATE VIEW public.amounts AS SELECT amount FROM ${table}`,
      `CREATE FUNCTION public.of_row(public.amounts) RETURNS int LANGUAGE sql AS 'SELECT 1'`,
    ],
    /function public\.of_row\(public\.amounts\)/,
  ],
  [
    "a policy of another table",
    (table) => [
      `CREATE TABLE public.kept (a int)`,
      `CREATE POLICY only_some ON public.kept USING (EXISTS (SELECT FROM ${table} s WHERE s.amount = 'x'))`,
    ],
    /policy only_some on table public\.kept/,
  ],
  [
    "a policy of its own table",
    (table) => [`CREATE POLICY only_some ON ${table} USING (amount <> 'x')`],
    /policy only_some on table sources\./,
    superuser,
  ],
  [
    "a trigger upon the column",
    (table) => [
      `CREATE FUNCTION public.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
      `CREATE TRIGGER on_amount AFTER UPDATE OF amount ON ${table} FOR EACH ROW EXECUTE FUNCTION public.nothing()`,
    ],
    /trigger on_amount on table sources\./,
    superuser,
  ],
  [
    "a generated column",
    (table) => [`ALTER TABLE ${table} ADD COLUMN made text GENERATED ALWAYS AS (amount || '!') STORED`],
    /column made of table sources\./,
    superuser,
  ],
  [
    "a publication that asks for the column",
    (table) => [
      `ALTER TABLE ${table} REPLICA IDENTITY FULL`,
      `CREATE PUBLICATION some_amounts FOR TABLE ${table} WHERE (amount <> 'x')`,
    ],
    /publication of table sources\.\S+ in publication some_amounts/,
    superuser,
  ],
  [
    "a foreign key",
    (table) => [
      `ALTER TABLE ${table} ADD UNIQUE (amount)`,
      `CREATE TABLE public.kept (amount text REFERENCES ${table} (amount))`,
    ],
    /constraint \S+ on table public\.kept/,
    superuser,
  ],
]

/** Removes what a case has created. */
const clear = async () => {
  await superuser("DROP PUBLICATION IF EXISTS some_amounts")
  const made = await superuser(
    `SELECT format('DROP %s IF EXISTS %s CASCADE', what, name) AS statement FROM (
       SELECT 'ROUTINE', oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace
       UNION ALL SELECT CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END, oid::regclass::text
       FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('v', 'm', 'r')
       UNION ALL SELECT 'TYPE', oid::regtype::text FROM pg_type t WHERE typnamespace = 'public'::regnamespace
         AND (typtype = 'd' OR EXISTS (SELECT FROM pg_class c WHERE c.oid = t.typrelid AND c.relkind = 'c'))
     ) x (what, name)
     WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.deptype = 'e' AND x.name = d.objid::regprocedure::text)`,
  )
  for (const { statement } of made) await superuser(statement as string)
}

it.each(inTheWay.map(([what, make, named, as = author]) => ({ what, make, named, as })))(
  "retype reports $what, and changes nothing",
  async ({ make, named, as }) => {
    const { id, table } = await newSource()
    for (const statement of make(table)) await as(statement)
    const refused = await retype(id)
    if (refused._tag !== "Failure" || refused.failure._tag !== "ColumnError")
      return assert.fail(JSON.stringify(refused))
    assert.strictEqual(refused.failure.code, "objects_depend", refused.failure.message)
    assert.match(refused.failure.message, named)
    assert.match(refused.failure.message, /[Nn]othing was changed.*Drop (it|them) first/)
    assert.strictEqual(await typeOf(table), "text")
    await clear()
    // Without it, the change succeeds: it alone was the obstacle.
    if (as === author) {
      assert.strictEqual((await retype(id))._tag, "Success")
      assert.strictEqual(await typeOf(table), "numeric")
    }
  },
)

it("retype ignores dependents that PostgreSQL rebuilds itself, and those of other columns", async () => {
  const { id, table } = await newSource()
  await superuser(`CREATE STATISTICS public.both ON amount, note FROM ${table}`)
  await superuser(`CREATE INDEX ON ${table} (amount)`)
  await superuser(`ALTER TABLE ${table} ADD CHECK (amount IS NOT NULL)`)
  await author(
    `CREATE FUNCTION public.notes() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(note) FROM ${table}; END`,
  )
  await author(`CREATE FUNCTION public.of_row(${table}) RETURNS int LANGUAGE sql AS 'SELECT 1'`)
  await author(`CREATE VIEW public.whole AS SELECT s FROM ${table} s`)
  await author(`CREATE VIEW public.amounts AS SELECT amount FROM ${table}`)
  await author(`CREATE VIEW public.rows_of AS SELECT a FROM public.amounts a`)
  const done = await retype(id)
  assert.strictEqual(done._tag, "Success", JSON.stringify(done))
  assert.strictEqual(await typeOf(table), "numeric")
  await clear()
})

const slow = (loop: string) => `CREATE FUNCTION public.slow(anyelement) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $f$
  BEGIN ${loop} RETURN 1; END $f$`
const CATCHES = "LOOP BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP;"

it.each([
  ["takes too long", "PERFORM pg_sleep(600);"],
  ["catches what ends its statement", CATCHES],
])("retype terminates a view whose code %s, reports it, and leaves the source in service", async (_, loop) => {
  const { id, table } = await newSource()
  await author(slow(""))
  await author(`CREATE MATERIALIZED VIEW public.honest AS SELECT amount FROM ${table}`)
  await author(`CREATE MATERIALIZED VIEW public.filled AS SELECT amount, public.slow(amount) AS s FROM ${table}`)
  await author(slow(loop).replace("CREATE", "CREATE OR REPLACE"))
  const other = await newSource()
  const retyping = retype(id)
  // Events of another source and of this one are accepted meanwhile.
  assert.lengthOf(await post(other.id, "6"), 1)
  assert.lengthOf(await post(id, "7"), 1)
  const refused = await retyping
  if (refused._tag !== "Failure" || refused.failure._tag !== "ColumnError") return assert.fail(JSON.stringify(refused))
  assert.strictEqual(refused.failure.code, "views_slow")
  assert.match(refused.failure.message, /longer than 1 seconds.*nothing was changed/)
  assert.strictEqual(await typeOf(table), "text")
  const [{ n }] = (await superuser("SELECT count(*)::int AS n FROM public.filled")) as [{ n: number }]
  assert.strictEqual(n, 1, "the view is as it was")
  assert.strictEqual((await retype(other.id))._tag, "Success")
  await clear()
})

/** Stops the process that runs it, so that it ends for no signal until it is continued. */
const STOPS = `CREATE FUNCTION public.stop() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
  BEGIN EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', 'kill -STOP ' || pg_backend_pid()); END $$`

it("retype returns even if a view's code cannot be stopped, whose session keeps its slot until it ends", async () => {
  const { id, table } = await newSource()
  await superuser(STOPS)
  await author(slow(""))
  await author(`CREATE MATERIALIZED VIEW public.honest AS SELECT amount FROM ${table}`)
  await author(`CREATE MATERIALIZED VIEW public.filled AS SELECT amount, public.slow(amount) AS s FROM ${table}`)
  await author(slow("PERFORM public.stop();").replace("CREATE", "CREATE OR REPLACE"))
  const running = async () =>
    (
      await superuser(`SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND usename = 'cabinet' AND state = 'active' AND query LIKE 'REFRESH%'`)
    ).map(({ pid }) => Number(pid))
  const refused = await retype(id)
  const left = await running()
  for (const pid of left) process.kill(pid, "SIGCONT")
  if (refused._tag !== "Failure" || refused.failure._tag !== "ColumnError") return assert.fail(JSON.stringify(refused))
  assert.strictEqual(refused.failure.code, "views_slow")
  assert.lengthOf(left, 1, "it has not ended, and its caller was answered")
  while ((await running()).length > 0) await new Promise((done) => setTimeout(done, 50))
  while ((await typeOf(table)) !== "text") await new Promise((done) => setTimeout(done, 50))
  await author(slow("").replace("CREATE", "CREATE OR REPLACE"))
  assert.strictEqual((await retype(id))._tag, "Success")
  await clear()
})

it("retype waits for the locks of many views no longer than for one", async () => {
  const { id, table } = await newSource()
  for (let n = 0; n < 6; n++) await author(`CREATE VIEW public.held_${n} AS SELECT amount FROM ${table}`)
  // Each session holds its view, but not the table, for longer than the one awaited before it.
  await superuser("CREATE TABLE public.all_hold (n int)")
  await superuser("GRANT SELECT ON public.all_hold TO PUBLIC")
  const holders = Array.from({ length: 6 }, (_, n) =>
    author(`DO $$ BEGIN COMMENT ON VIEW public.held_${n} IS 'held';
      WHILE NOT EXISTS (SELECT FROM public.all_hold) LOOP PERFORM pg_sleep(0.02); END LOOP;
      PERFORM pg_sleep(${(6 - n) * 2}); END $$`).catch(() => undefined),
  )
  const held = `SELECT DISTINCT pid FROM pg_locks WHERE mode = 'ShareUpdateExclusiveLock' AND granted
    AND relation IN (SELECT oid FROM pg_class WHERE relname LIKE 'held%')`
  while ((await superuser(held)).length < 6) await new Promise((done) => setTimeout(done, 10))
  await superuser("INSERT INTO public.all_hold VALUES (1)")
  const refused = await retype(id)
  if (refused._tag !== "Failure" || refused.failure._tag !== "ColumnError") return assert.fail(JSON.stringify(refused))
  assert.strictEqual(refused.failure.code, "table_busy")
  await superuser(`SELECT count(pg_terminate_backend(h.pid))::int FROM (${held}) h`)
  await Promise.all(holders)
  assert.strictEqual((await retype(id))._tag, "Success")
  await clear()
})
