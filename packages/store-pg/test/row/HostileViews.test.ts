/**
 * The author's code runs wherever one of the author's views is recreated. There it must have only the author's rights,
 * and leave nothing behind in the session. Each attempt is made by a function in a domain's check, which PostgreSQL
 * calls while it parses a literal.
 */
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { Sources } from "@data-cabinet/core/source/Sources"
import { WRITERS } from "@data-cabinet/store-pg/event/EventWriter"
import { ensureRoles } from "@data-cabinet/store-pg/migrations/PgRoles"
import { PgClient } from "@effect/sql-pg"
import { Effect, ManagedRuntime, Redacted } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { testCabinet } from "../../../../test/support/testCabinet.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
let store: ReturnType<typeof testCabinet>
/** One session besides the writers', which can be inspected afterwards. */
let columns: typeof store
let author: ManagedRuntime.ManagedRuntime<PgClient.PgClient, unknown>
let authorRole = ""

const as = (statement: string) => author.runPromise(PgClient.PgClient.use((sql) => sql.unsafe(statement)))

/**
 * What the author's function does whenever it is called; each part separately, so that one refusal does not prevent the
 * others.
 */
const TRIES: ReadonlyArray<string> = [
  "RESET ROLE",
  "SET LOCAL ROLE NONE",
  "SET ROLE cabinet",
  "RESET SESSION AUTHORIZATION",
  "SET SESSION AUTHORIZATION DEFAULT",
  "SET SESSION AUTHORIZATION cabinet",
  "PERFORM set_config('role', 'none', false)",
  "UPDATE pg_settings SET setting = 'none' WHERE name = 'role'",
  "RESET ALL",
]

const LEAVINGS: ReadonlyArray<string> = [
  "SET search_path = public, pg_catalog",
  "SET standard_conforming_strings = off",
  "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
  "SET statement_timeout = 1",
  "PREPARE left_behind AS SELECT 1",
  "CREATE TEMP TABLE left_behind (a int)",
  "CREATE FUNCTION pg_temp.left_behind() RETURNS int LANGUAGE sql AS 'SELECT 1'",
  "LISTEN left_behind",
  "PERFORM pg_advisory_lock(1684235107, 1)",
  "INSERT INTO public.late VALUES (1)",
]

const attempt = (statement: string) => `
  BEGIN
    ${statement.startsWith("PERFORM") ? statement : `EXECUTE '${statement.replaceAll("'", "''")}'`};
  EXCEPTION WHEN OTHERS THEN NULL;
  END;
  INSERT INTO public.seen VALUES (current_user, has_schema_privilege('cabinet', 'USAGE'));`

const plant = (tries: ReadonlyArray<string>) =>
  as(`CREATE OR REPLACE FUNCTION public.act() RETURNS boolean LANGUAGE plpgsql AS $f$
    BEGIN
      ${tries.map(attempt).join("\n")}
      RETURN true;
    END $f$`)

/** Which roles ran the code since the last check, other than the author. */
const strangers = async () => {
  const rows = await database.run(`SELECT DISTINCT who, may FROM public.seen WHERE who <> '${authorRole}' OR may`)
  return rows
}

beforeAll(async () => {
  store = testCabinet(database.url)
  columns = testCabinet(database.url, { maxConnections: WRITERS + 1 })
  const roles = await store.runPromise(ensureRoles({ url: database.url }))
  if (!roles.author.there) throw new Error(roles.author.reason)
  authorRole = roles.author.role
  author = ManagedRuntime.make(PgClient.layer({ url: Redacted.make(roles.author.url), maxConnections: 1 }))
  await as("CREATE TABLE public.seen (who text, may boolean)")
  await as("CREATE TABLE public.late (a int)")
  await as(`CREATE FUNCTION public.too_late() RETURNS trigger LANGUAGE plpgsql AS $f$
    BEGIN ${TRIES.map(attempt).join("\n")} RETURN NULL; END $f$`)
  await as(`CREATE CONSTRAINT TRIGGER too_late AFTER INSERT ON public.late DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION public.too_late()`)
  await plant([])
  // An index accepts only functions that are declared immutable.
  await as(`CREATE FUNCTION public.seize(anyelement) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $f$
    BEGIN RETURN public.act(); END $f$`)
  await as("CREATE DOMAIN public.d AS int CHECK (public.seize(VALUE))")
})
afterAll(async () => {
  await author.dispose()
  await columns.dispose()
  await store.dispose()
})

const newSource = async (name: string) => {
  const source = await store.runPromise(Sources.use((sources) => sources.create({ name })))
  const known = await store.runPromise(Sources.use((sources) => sources.forIntake(source.id)))
  if (known._tag === "None") throw new Error("no source")
  const append = EventLog.use((log) =>
    appendEvents(log, {
      sourceId: source.id,
      sourceVersion: known.value.version,
      channel: "webhook",
      history: false,
      events: [{ ...fingerprintedEvent(new Map([["amount", "5"]])), fingerprint: null }],
      original: null,
    }),
  )
  await store.runPromise(append)
  return { id: source.id, table: `sources.${source.table!.name}` }
}
const retype = (id: number, type: "numeric" | "text") =>
  columns.runPromise(SourceColumns.use((all) => all.retype(id, "amount", type, { withViews: true })))

/** Every part of a view that can contain the author's code. */
const views = (n: number, table: string): ReadonlyArray<string> => [
  `CREATE VIEW public.parsed_${n} AS SELECT amount, '{1}'::public.d[] AS d FROM ${table}`,
  `CREATE MATERIALIZED VIEW public.filled_${n} AS SELECT amount, public.seize(amount) AS s FROM ${table}`,
  `CREATE INDEX filled_index_${n} ON public.filled_${n} (public.seize(amount))`,
  `CREATE VIEW public.ruled_${n} AS SELECT amount FROM ${table}`,
  `CREATE RULE r AS ON INSERT TO public.ruled_${n} DO INSTEAD INSERT INTO public.late SELECT ('{1}'::public.d[])[1]`,
  `CREATE FUNCTION public.nothing_${n}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
  `CREATE VIEW public.triggered_${n} AS SELECT amount FROM ${table}`,
  `ALTER VIEW public.triggered_${n} ALTER amount SET DEFAULT ('{1}'::public.d[])[1]`,
  `CREATE TRIGGER t AFTER UPDATE ON public.triggered_${n} FOR EACH STATEMENT WHEN ('{1}'::public.d[] IS NOT NULL)
     EXECUTE FUNCTION public.nothing_${n}()`,
]

it("retype gives the author's code no rights but the author's, wherever it is in a view", async () => {
  const { id, table } = await newSource("Seized")
  for (const statement of views(1, table)) await as(statement)
  await plant(TRIES)
  await database.run("TRUNCATE public.seen")
  await retype(id, "numeric")
  expect(await strangers()).toEqual([])
  // This is a proof only because the code did run, in all five places.
  const [ran] = await database.run("SELECT count(*)::int AS n FROM public.seen")
  expect(ran!["n"]).toBeGreaterThanOrEqual(5 * TRIES.length)
  const [kept] = await database.run(`SELECT pg_get_expr(d.adbin, d.adrelid) AS made FROM pg_attrdef d
    WHERE d.adrelid = 'public.triggered_1'::regclass`)
  expect(kept!["made"]).toContain("'{1}'::d[]")
})

it("retype undoes all that the author's code did to the session: settings, statements, listening, locks, triggers", async () => {
  for (const [index, leaving] of LEAVINGS.entries()) {
    await plant([])
    const { id, table } = await newSource(`Left ${index}`)
    await as(`CREATE VIEW public.leaving_${index} AS SELECT amount, '{1}'::public.d[] AS d FROM ${table}`)
    await plant([leaving])
    await database.run("TRUNCATE public.seen")
    // If the author may not do what was attempted, the whole change is refused with a message; otherwise it succeeds.
    await retype(id, "numeric").catch((error: Error) => expect(error.message).toMatch(/nothing was changed/))
    expect(await strangers()).toEqual([])
    const state = Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      return yield* sql`
        SELECT current_setting('search_path') AS path, current_setting('standard_conforming_strings') AS literals,
          current_setting('transaction_read_only') AS read_only, current_setting('statement_timeout') AS timeout,
          (SELECT count(*)::int FROM pg_prepared_statements WHERE from_sql) AS prepared,
          (SELECT count(*)::int FROM pg_listening_channels()) AS listening,
          (SELECT count(*)::int FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory') AS locks,
          (SELECT count(*)::int FROM pg_class WHERE relnamespace = pg_my_temp_schema()) AS temporary`
    })
    const [row] = await columns.runPromise(state)
    expect(row, leaving).toEqual({
      path: "pg_catalog, pg_temp",
      literals: "on",
      read_only: "off",
      timeout: "30s",
      prepared: 0,
      listening: 0,
      locks: 0,
      temporary: 0,
    })
  }
})

it("retype refuses a view of the cabinet's own user that uses objects under the author's control", async () => {
  await plant([])
  const { id, table } = await newSource("Own")
  const owner = (statement: string) => store.runPromise(PgClient.PgClient.use((sql) => sql.unsafe(statement)))
  await owner(`CREATE VIEW public.own_harmless AS SELECT count(amount) AS amount FROM ${table}`)
  await owner(`CREATE VIEW public.own_over_harmless AS SELECT count(*) FROM public.own_harmless`)
  await retype(id, "numeric")
  expect(
    await database.run(
      "SELECT pg_get_userbyid(relowner)::text AS o FROM pg_class WHERE relname IN ('own_harmless', 'own_over_harmless')",
    ),
  ).toEqual([{ o: "cabinet" }, { o: "cabinet" }])
  await owner(`CREATE VIEW public.own_careless AS SELECT amount, '{1}'::public.d[] AS d FROM ${table}`)
  await plant(TRIES)
  await database.run("TRUNCATE public.seen")
  await expect(retype(id, "text")).rejects.toThrow(
    /own_careless belongs to the cabinet's own database user, and uses .*\bd\b/,
  )
  expect(await strangers()).toEqual([])
  await owner("DROP VIEW public.own_careless")
  await plant([])
  await as("CREATE VIEW public.of_author AS SELECT public.seize(1) AS s")
  await owner(
    `CREATE MATERIALIZED VIEW public.own_through AS SELECT amount, s FROM ${table}, public.of_author WITH NO DATA`,
  )
  await expect(retype(id, "text")).rejects.toThrow(
    /own_through belongs to the cabinet's own database user, and uses .*of_author/,
  )
  await owner("DROP MATERIALIZED VIEW public.own_through")
})

it("retype names a table of the author's whose rule reads the column", async () => {
  const { id, table } = await newSource("Ruling")
  await as(`CREATE TABLE public.ruling (a int)`)
  await as(
    `CREATE RULE also AS ON INSERT TO public.ruling DO ALSO INSERT INTO public.seen SELECT amount::text FROM ${table}`,
  )
  await expect(retype(id, "numeric")).rejects.toThrow(
    /public\.ruling is not a view, but has a rule that reads the column/,
  )
})

it("retype fails with a message when views read each other in a cycle", async () => {
  await plant([])
  const { id, table } = await newSource("Circle")
  await as(`CREATE VIEW public.turn_a AS SELECT amount FROM ${table}`)
  await as("CREATE VIEW public.turn_b AS SELECT amount FROM public.turn_a")
  await as(
    `CREATE OR REPLACE VIEW public.turn_a AS SELECT amount FROM ${table} UNION ALL SELECT amount FROM public.turn_b`,
  )
  await as("CREATE VIEW public.turn_c AS SELECT amount FROM public.turn_a")
  const retyped = await retype(id, "numeric").catch((error: Error) => error)
  expect(String((retyped as Error).message)).toMatch(/public\.turn_[ab] is recursive, or reads a recursive view/)
  await as("DROP VIEW public.turn_a CASCADE")
  await retype(id, "numeric")
})
