/**
 * The author creates objects in `public` with every name that our SQL uses: functions, types, operators, relations and casts.
 * Then the owner does everything that an owner does. The author's code may run only as the author.
 */
import { type Cabinet, openCabinet } from "data-cabinet"
import { afterAll, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { usedNames } from "../support/sqlNames.ts"
import { allSqlTexts } from "../support/sqlTexts.ts"

const database = withDatabase({ empty: true })
let cabinet: Cabinet
let author = ""
const open = () => openCabinet({ databaseUrl: database.url, baseUrl: "http://shop.example", delivery: false })

const SINGLES = "text,name,int4,int8,oid,json,jsonb,timestamptz,date,bytea,anyelement,anyarray"
const PAIRS = "text,int8,timestamptz,anyelement"
const OPERANDS = "text,name,int4,int8,oid,jsonb,timestamptz"
const OPERATORS = "= <> < > <= >= || -> ->> #>> + - * / ~ @> && %".split(" ")

const list = (types: string) =>
  `ARRAY[${types
    .split(",")
    .map((type) => `'${type}'`)
    .join(", ")}]`

const TRAP = `
CREATE TABLE public.ran (who text, what text);
CREATE FUNCTION public.trap(what text) RETURNS boolean LANGUAGE plpgsql AS $f$
  BEGIN INSERT INTO public.ran VALUES (current_user, what); RETURN true; END $f$;`

/** Runs each statement in its own transaction, because the locks of a transaction are limited. */
const plantFunctions = (names: ReadonlyArray<string>) => `
DO $do$
DECLARE name text; one text; two text;
BEGIN
  FOREACH name IN ARRAY ARRAY[${names.map((name) => `'${name}'`).join(", ")}] LOOP
    EXECUTE pg_catalog.format('CREATE FUNCTION public.%I() RETURNS text LANGUAGE plpgsql AS %L', name,
      pg_catalog.format('BEGIN PERFORM public.trap(%L); RETURN NULL; END', name));
    FOREACH one IN ARRAY ${list(SINGLES)} LOOP
      EXECUTE pg_catalog.format('CREATE FUNCTION public.%I(pg_catalog.%s) RETURNS text LANGUAGE plpgsql AS %L', name, one,
        pg_catalog.format('BEGIN PERFORM public.trap(%L); RETURN NULL; END', name));
    END LOOP;
    FOREACH one IN ARRAY ${list(PAIRS)} LOOP
      FOREACH two IN ARRAY ${list(PAIRS)} LOOP
        EXECUTE pg_catalog.format('CREATE FUNCTION public.%I(pg_catalog.%s, pg_catalog.%s) RETURNS text LANGUAGE plpgsql AS %L', name, one, two,
          pg_catalog.format('BEGIN PERFORM public.trap(%L); RETURN NULL; END', name));
      END LOOP;
    END LOOP;
    EXECUTE pg_catalog.format('CREATE DOMAIN public.%I AS pg_catalog.text CHECK (public.trap(%L))', name, name);
  END LOOP;
END $do$`

const plantTypes = (names: ReadonlyArray<string>) => `
DO $do$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY[${names.map((name) => `'${name}'`).join(", ")}] LOOP
    EXECUTE pg_catalog.format('CREATE DOMAIN public.%I AS pg_catalog.text CHECK (public.trap(%L))', name, name);
  END LOOP;
END $do$`

const PLANT_OPERATORS = `
DO $do$
DECLARE sign text; one text; two text;
BEGIN
  FOREACH one IN ARRAY ${list(OPERANDS)} LOOP
    FOREACH two IN ARRAY ${list(OPERANDS)} LOOP
      EXECUTE pg_catalog.format('CREATE FUNCTION public.operated(pg_catalog.%s, pg_catalog.%s) RETURNS boolean LANGUAGE plpgsql AS %L', one, two,
        'BEGIN RETURN public.trap(''operator''); END');
      FOREACH sign IN ARRAY ARRAY[${OPERATORS.map((sign) => `'${sign}'`).join(", ")}] LOOP
        EXECUTE pg_catalog.format('CREATE OPERATOR public.%s (LEFTARG = pg_catalog.%s, RIGHTARG = pg_catalog.%s, FUNCTION = public.operated)', sign, one, two);
      END LOOP;
    END LOOP;
  END LOOP;
END $do$`

const plantRelations = (names: ReadonlyArray<string>) => `
DO $do$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY[${names.map((name) => `'${name}'`).join(", ")}] LOOP
    EXECUTE pg_catalog.format('CREATE VIEW public.%I AS SELECT public.trap(%L) AS oid', name, name);
  END LOOP;
END $do$`

/** The author's own table, views and materialized view, full of the author's code, which the owner's acts encounter. */
const TRAPS_IN_OBJECTS = `
CREATE TYPE public.mood AS ENUM ('glad', 'sad');
CREATE FUNCTION public.mood_text(public.mood) RETURNS pg_catalog.text LANGUAGE plpgsql IMMUTABLE AS $f$
  BEGIN PERFORM public.trap('cast'); RETURN 'x'; END $f$;
CREATE CAST (public.mood AS pg_catalog.text) WITH FUNCTION public.mood_text(public.mood) AS IMPLICIT;
CREATE FUNCTION public.seen(anyelement) RETURNS pg_catalog.text LANGUAGE plpgsql IMMUTABLE AS $f$
  BEGIN PERFORM public.act('expression'); RETURN 'x'; END $f$;
CREATE FUNCTION public.act(what text) RETURNS void LANGUAGE plpgsql AS $f$ BEGIN PERFORM public.trap(what); END $f$;
CREATE DOMAIN public.checked AS int4 CHECK (public.trap('domain'));
CREATE TABLE public.bait (id int4 PRIMARY KEY, word pg_catalog.text, n public.checked);
CREATE INDEX bait_seen ON public.bait (public.seen(word));
INSERT INTO public.bait VALUES (1, 'one', 1);
CREATE TABLE public.moods (id int4 PRIMARY KEY, m public.mood);
CREATE MATERIALIZED VIEW public.bait_kept AS SELECT id, public.seen(word) AS word FROM public.bait;
CREATE FUNCTION public.fired() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN PERFORM public.trap('trigger'); RETURN NEW; END $f$;
CREATE TRIGGER fired BEFORE INSERT OR UPDATE ON public.bait FOR EACH ROW EXECUTE FUNCTION public.fired();`

const ranAs = async () =>
  (await database.run(
    `SELECT DISTINCT who, what FROM public.ran WHERE who <> '${author}' ORDER BY 1, 2`,
  )) as ReadonlyArray<unknown>

beforeAll(async () => {
  author = `cabinet_${database.name}_author`
  cabinet = await open()
  const used = usedNames(allSqlTexts())
  await cabinet.sql(TRAP)
  for (let at = 0; at < used.functions.length; at += 10) {
    await cabinet.sql(plantFunctions(used.functions.slice(at, at + 10)))
  }
  await cabinet.sql(plantTypes(used.types.filter((name) => !used.functions.includes(name))))
  await cabinet.sql(PLANT_OPERATORS)
  const types = new Set([...used.functions, ...used.types])
  await cabinet.sql(plantRelations(used.relations.filter((name) => !types.has(name))))
  await cabinet.sql(TRAPS_IN_OBJECTS)
})
afterAll(() => cabinet.close())

it("the planted traps are triggered by the author's own use", async () => {
  expect(usedNames(allSqlTexts()).functions.length).toBeGreaterThan(60)
  await cabinet.sql(
    "SELECT public.concat('a'::pg_catalog.text, 1::pg_catalog.int8), 'x'::public.regclass, 1 OPERATOR(public.=) 1",
  )
  const [row] = await database.run(
    `SELECT pg_catalog.count(DISTINCT what)::int AS n FROM public.ran WHERE who = '${author}'`,
  )
  expect(row!["n"]).toBeGreaterThanOrEqual(3)
})

it("whatever the owner does, the author's code runs only as the author", async () => {
  const source = await cabinet.sources.create({ name: "Orders" })
  const sent: Array<number> = []
  for (const fields of [
    { total: "12.50", day: "2026-01-01" },
    { total: "soon", more: { a: [1] } },
    { flag: true, n: 1 },
  ]) {
    const answer = await cabinet.fetchHandler(
      new Request(source.intakeUrl, {
        method: "POST",
        body: JSON.stringify(fields),
        headers: { "content-type": "application/json" },
      }),
    )
    expect(answer.status).toBe(200)
    sent.push(((await answer.json()) as { id: number }).id)
  }
  await cabinet.sql(`
    CREATE VIEW public.totals AS SELECT total, '{1}'::public.checked[] AS c FROM sources.orders;
    CREATE MATERIALIZED VIEW public.totals_kept AS SELECT total, public.seen(total) AS s FROM sources.orders;
    CREATE INDEX totals_kept_seen ON public.totals_kept (public.seen(total));`)
  expect(await cabinet.columns.retype(source.id, "total", "numeric", { withViews: true })).toMatchObject({ moved: 1 })
  await cabinet.columns.retype(source.id, "day", "date")
  await cabinet.columns.relabel(source.id, "total", "Sum")
  await cabinet.columns.list(source.id)

  await cabinet.tables.list()
  for (const name of ["bait", "totals", "bait_kept", "moods", "pg_class"]) await cabinet.tables.get(`public.${name}`)
  await cabinet.tables.get("sources.orders")
  await cabinet.tables.addSchema("mine")
  await cabinet.sql("CREATE TABLE mine.things (id int PRIMARY KEY)")
  await cabinet.tables.expose("mine").catch(() => 0)
  await cabinet.tables.hide("mine").catch(() => 0)
  expect(await cabinet.tables.addSearchIndex("sources.orders")).toMatchObject({ built: true })
  expect(await cabinet.tables.addSearchIndex("public.bait")).toMatchObject({ built: true })
  expect(await cabinet.tables.addSearchIndex("public.bait_kept")).toMatchObject({ built: true })
  await expect(cabinet.tables.addSearchIndex("public.moods")).rejects.toMatchObject({ code: "not_indexable" })
  for (const name of ["sources.orders", "public.bait", "public.bait_kept"]) await cabinet.tables.dropSearchIndex(name)

  const id = sent[0]!
  await cabinet.events.inspect(id)
  expect(await cabinet.events.trash(source.id, [id])).toBe(1)
  expect(await cabinet.events.untrash(source.id, [id])).toBe(1)
  expect(await cabinet.events.purge([id])).toBe(1)
  for await (const event of cabinet.feed()) if (event.id === sent.at(-1)) break

  await cabinet.imports.file(source.id, { name: "a.csv", bytes: new TextEncoder().encode("total,city\n1,x\n2,y\n") })
  await cabinet.imports.list(5)
  const address = await cabinet.addresses
    .create({ url: "http://198.51.100.7/", sources: [source.id] })
    .catch(() => undefined)
  if (address !== undefined) {
    await cabinet.addresses.pause(address.id)
    await cabinet.addresses.log(address.id)
    await cabinet.addresses.rotateSecret(address.id)
    await cabinet.addresses.remove(address.id)
  }
  const { key, id: keyId } = await cabinet.keys.create({ name: "k" })
  for (const path of ["tables", "sources", "events", "tables/sources/orders/rows"]) {
    const headers = { authorization: `Bearer ${key}` }
    await cabinet.fetchHandler(new Request(`http://shop.example/api/v1/${path}`, { headers }))
  }
  await cabinet.keys.list()
  await cabinet.keys.revoke(keyId)
  const token = await cabinet.tokens.create({ name: "o", role: "owner" })
  await cabinet.tokens.revoke(token.id)
  await cabinet.diagnostics()

  await cabinet.sources.change(source.id, { name: "Orders of old" })
  await cabinet.sources.archive(source.id)
  await cabinet.sources.restore(source.id)
  await cabinet.sources.rotateSecret(source.id)
  const other = await cabinet.sources.create({ name: "Short" })
  await cabinet.sources.remove(other.id, { dropTable: true })

  // A start that finds privileges missing repairs them statement by statement.
  await cabinet.close()
  await database.run(`REVOKE USAGE ON SCHEMA sources FROM "${author}"`)
  cabinet = await open()
  expect(
    await cabinet.sql("SELECT count(*) AS n FROM sources.orders_nothing").catch((error: Error) => error.message),
  ).toMatch(/exist/)
  expect(await ranAs()).toEqual([])
})
