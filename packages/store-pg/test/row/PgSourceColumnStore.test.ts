import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { type Json, JsonNumber } from "@data-cabinet/core/json/Json"
import { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { Sources } from "@data-cabinet/core/source/Sources"
import { ensureRoles } from "@data-cabinet/store-pg/migrations/PgRoles"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { testCabinet } from "../../../../test/support/testCabinet.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
let store: ReturnType<typeof testCabinet>
beforeAll(() => {
  store = testCabinet(database.url)
})
afterAll(() => store.dispose())

const newSource = (name: string) => store.runPromise(Sources.use((sources) => sources.create({ name })))
const post = async (sourceId: number, fields: Record<string, Json>) => {
  const source = await store.runPromise(Sources.use((sources) => sources.forIntake(sourceId)))
  if (source._tag === "None") return assert.fail("no source")
  await store.runPromise(
    EventLog.use((log) =>
      appendEvents(log, {
        sourceId,
        sourceVersion: source.value.version,
        channel: "webhook",
        history: false,
        events: [{ ...fingerprintedEvent(new Map(Object.entries(fields))), fingerprint: null }],
        original: null,
      }),
    ),
  )
}
const retype = (
  sourceId: number,
  column: string,
  type: "numeric" | "text" | "timestamptz" | "jsonb",
  withViews = false,
) => store.runPromise(SourceColumns.use((columns) => columns.retype(sourceId, column, type, { withViews })))

it("retype converts values in the new type's exact format, and moves the others, now and later, to the sibling", async () => {
  const source = await newSource("Forms")
  for (const total of ["12.50", "007", "about 3", "1e5"]) await post(source.id, { total })
  const result = await retype(source.id, "total", "numeric")
  assert.deepStrictEqual([result.moved, result.sibling], [3, "total_text"])
  await post(source.id, { total: "99.90" })
  await post(source.id, { total: "n/a" })
  await post(source.id, { total: new JsonNumber("1e2") })
  assert.deepStrictEqual(
    await database.run(`SELECT total::text AS total, total_text FROM sources.forms ORDER BY _event_id`),
    [
      { total: "12.50", total_text: null },
      { total: null, total_text: "007" },
      { total: null, total_text: "about 3" },
      { total: null, total_text: "1e5" },
      { total: "99.90", total_text: null },
      { total: null, total_text: "n/a" },
      { total: "100", total_text: null },
    ],
  )
})

it("retype converts times, and leaves impossible days", async () => {
  const source = await newSource("Moments")
  for (const at of ["2026-02-28T10:00:00Z", "2026-02-30T10:00:00Z", "yesterday"]) await post(source.id, { at })
  assert.strictEqual((await retype(source.id, "at", "timestamptz")).moved, 2)
  await post(source.id, { at: "2026-03-01 12:00:00.5+03:00" })
  assert.deepStrictEqual(
    await database.run(`SELECT (at AT TIME ZONE 'UTC')::text AS at, at_text FROM sources.moments ORDER BY _event_id`),
    [
      { at: "2026-02-28 10:00:00", at_text: null },
      { at: null, at_text: "2026-02-30T10:00:00Z" },
      { at: null, at_text: "yesterday" },
      { at: "2026-03-01 09:00:00.5", at_text: null },
    ],
  )
})

it("retype reads a text column in a notation, tries it first, and moves the values that do not fit", async () => {
  const source = await newSource("Ledger")
  for (const total of ["1.234,50", "0,10", "1.5", "n/a"]) await post(source.id, { total, day: "02.03.2026" })
  const columns = <A, E>(use: (all: SourceColumns["Service"]) => Effect.Effect<A, E>) =>
    store.runPromise(SourceColumns.use(use))
  const trial = await columns((all) => all.tryRetype(source.id, "total", "numeric", { numbers: "comma" }))
  assert.deepInclude(trial, { misfits: 2, sibling: "total_text" })
  assert.deepStrictEqual(
    trial.examples.map(({ value }) => value),
    ["1.5", "n/a"],
  )
  const refused = columns((all) =>
    Effect.flip(all.retype(source.id, "total", "numeric", { withViews: false, notation: { dates: "dmy" } })),
  )
  assert.deepInclude(await refused, { code: "bad_notation" })
  const total = { withViews: false, notation: { numbers: "comma" } } as const
  assert.strictEqual((await columns((all) => all.retype(source.id, "total", "numeric", total))).moved, 2)
  const day = { withViews: false, notation: { dates: "dmy" } } as const
  assert.strictEqual((await columns((all) => all.retype(source.id, "day", "date", day))).moved, 0)
  assert.deepStrictEqual(
    await database.run(
      `SELECT total::text AS total, total_text, day::text AS day FROM sources.ledger ORDER BY _event_id`,
    ),
    [
      { total: "1234.50", total_text: null, day: "2026-03-02" },
      { total: "0.10", total_text: null, day: "2026-03-02" },
      { total: null, total_text: "1.5", day: "2026-03-02" },
      { total: null, total_text: "n/a", day: "2026-03-02" },
    ],
  )
})

it("retype names dependent views, and recreates them with owner, privileges, comments, triggers, rules and indexes", async () => {
  const source = await newSource("Viewed")
  await post(source.id, { amount: "5" })
  const roles = await store.runPromise(ensureRoles({ url: database.url }))
  if (!roles.author.there || !roles.reader.there) return assert.fail("no roles")
  const author = (statement: string) =>
    Effect.runPromise(
      PgClient.PgClient.use((sql) => sql.unsafe(statement)).pipe(
        Effect.provide(PgClient.layer({ url: Redacted.make(roles.author.there ? roles.author.url : "") })),
      ),
    )
  await author(
    "CREATE VIEW public.amounts WITH (security_barrier=true) AS SELECT _event_id, amount FROM sources.viewed",
  )
  await author("COMMENT ON VIEW public.amounts IS 'what''s due'")
  await author("CREATE MATERIALIZED VIEW public.amounts_kept AS SELECT * FROM public.amounts")
  await author("CREATE UNIQUE INDEX amounts_kept_key ON public.amounts_kept (_event_id)")
  await author("GRANT UPDATE (amount) ON public.amounts TO PUBLIC")
  await author("CREATE FUNCTION public.say_no() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no''; END'")
  await author("CREATE TRIGGER no INSTEAD OF UPDATE ON public.amounts FOR EACH ROW EXECUTE FUNCTION public.say_no()")
  await author("CREATE RULE nothing AS ON DELETE TO public.amounts DO INSTEAD NOTHING")
  const refusal = await store.runPromise(
    Effect.flip(SourceColumns.use((columns) => columns.retype(source.id, "amount", "numeric", { withViews: false }))),
  )
  assert.include(refusal.message, "public.amounts, public.amounts_kept")
  const result = await retype(source.id, "amount", "numeric", true)
  assert.deepStrictEqual(result.views, ["public.amounts", "public.amounts_kept"])
  const [after] = await database.run(
    `SELECT pg_get_userbyid(v.relowner)::text AS owner, obj_description(v.oid) AS comment, v.reloptions::text AS options,
       has_table_privilege('${roles.reader.role}', v.oid, 'SELECT') AS read,
       has_column_privilege('${roles.reader.role}', v.oid, 'amount', 'UPDATE') AS may_update_one,
       has_column_privilege('${roles.reader.role}', v.oid, '_event_id', 'UPDATE') AS may_update_other,
       ARRAY(SELECT tgname::text FROM pg_trigger WHERE tgrelid = v.oid)
         || ARRAY(SELECT rulename::text FROM pg_rewrite WHERE ev_class = v.oid ORDER BY 1) AS reactions,
       to_regclass('public.amounts_kept_key') IS NOT NULL AS indexed,
       format_type(a.atttypid, NULL) AS type
     FROM pg_class v JOIN pg_attribute a ON a.attrelid = v.oid AND a.attname = 'amount' WHERE v.oid = 'public.amounts'::regclass`,
  )
  assert.deepStrictEqual(after, {
    owner: roles.author.role,
    comment: "what's due",
    options: "{security_barrier=true}",
    read: true,
    may_update_one: true,
    may_update_other: false,
    reactions: ["no", "_RETURN", "nothing"],
    indexed: true,
    type: "numeric",
  })
})

it("retype runs the author's code only as the author, and grants nothing that was revoked", async () => {
  const source = await newSource("Trapped")
  await post(source.id, { amount: "5" })
  const roles = await store.runPromise(ensureRoles({ url: database.url }))
  if (!roles.author.there || !roles.reader.there) return assert.fail("no roles")
  const asAuthor = PgClient.layer({ url: Redacted.make(roles.author.url) })
  for (const statement of [
    "CREATE FUNCTION public.who(anyelement) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN current_user; END'",
    "CREATE MATERIALIZED VIEW public.trap AS SELECT amount, public.who(amount) AS ran_as FROM sources.trapped",
    "CREATE INDEX trap_index ON public.trap (public.who(amount))",
    `REVOKE ALL ON public.trap FROM "${roles.reader.role}"`,
  ]) {
    await Effect.runPromise(PgClient.PgClient.use((sql) => sql.unsafe(statement)).pipe(Effect.provide(asAuthor)))
  }
  await retype(source.id, "amount", "numeric", true)
  const [trap] = await database.run(
    `SELECT ran_as, pg_get_userbyid(c.relowner)::text AS owner, has_table_privilege('${roles.reader.role}', c.oid, 'SELECT') AS read
     FROM public.trap, pg_class c WHERE c.oid = 'public.trap'::regclass`,
  )
  assert.deepStrictEqual(trap, { ran_as: roles.author.role, owner: roles.author.role, read: false })
})

it("relabel changes the displayed name and not the field's", async () => {
  const source = await newSource("Labelled")
  await post(source.id, { a: "1" })
  await store.runPromise(SourceColumns.use((columns) => columns.relabel(source.id, "a", "Amount due")))
  await post(source.id, { a: "2" })
  const columns = await store.runPromise(SourceColumns.use((all) => all.list(source.id)))
  assert.deepStrictEqual(
    columns.map(({ name, field, label }) => ({ name, field, label })),
    [{ name: "a", field: "a", label: "Amount due" }],
  )
})
