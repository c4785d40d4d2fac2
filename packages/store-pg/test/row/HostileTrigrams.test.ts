/** If pg_trgm is in a schema that the author may write to, the functions that we call by name could be the author's. */
import { Diagnostics } from "@data-cabinet/core/diagnostics/Diagnostics"
import { SearchIndex } from "@data-cabinet/core/row/SearchIndex"
import { TRIGRAMS_KNOW_LETTERS } from "@data-cabinet/store-pg/row/SearchIndexStatement"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { openReading, type Reading } from "./reading.ts"

let reading: Reading
beforeAll(async () => {
  reading = await openReading()
  await reading.run("CREATE TABLE public.ran (who text)")
  await reading.run(`CREATE FUNCTION public.sprung(text) RETURNS boolean LANGUAGE plpgsql AS $f$
    BEGIN INSERT INTO public.ran VALUES (current_user); RETURN true; END $f$`)
  await reading.run("CREATE TABLE public.letters (id int PRIMARY KEY, word text)")
})
afterAll(() => reading.close())

const build = (name: string) =>
  reading.runtime.runPromise(Effect.result(SearchIndex.use((port) => port.build("public", name))))
const ran = () => reading.database.run("SELECT who FROM public.ran")

it("a search index is refused, and no author's code runs, while pg_trgm is in a schema where the author may create objects", async () => {
  await reading.database.run("CREATE EXTENSION pg_trgm SCHEMA public")
  // A type named like the function: a call with an untyped literal would be a cast to it.
  await reading.run("CREATE DOMAIN public.show_trgm AS text[] CHECK (public.sprung(VALUE::text))")
  expect(await build("letters")).toMatchObject({
    failure: {
      code: "no_trigrams",
      message: expect.stringMatching(
        new RegExp(`schema public, where ${reading.authorRole} .*ALTER EXTENSION pg_trgm SET SCHEMA cabinet_search;`),
      ),
    },
  })
  expect(await ran()).toEqual([])
  // Following the message's instructions is enough.
  await reading.database.run("ALTER EXTENSION pg_trgm SET SCHEMA cabinet_search")
  expect(await build("letters")).toMatchObject({ success: { built: true } })
  expect(await ran()).toEqual([])
})

it("a search index is refused while pg_trgm is the author's own", async () => {
  await reading.database.run("DROP EXTENSION pg_trgm CASCADE")
  // As an earlier version allowed; today the author may no longer create extensions.
  await reading.asBefore("CREATE EXTENSION pg_trgm SCHEMA cabinet_search")
  const refused = {
    code: "no_trigrams",
    message: expect.stringMatching(/belongs to .*DROP EXTENSION pg_trgm CASCADE; CREATE/),
  }
  expect(await build("letters")).toMatchObject({ failure: refused })
  const { authority } = await reading.runtime.runPromise(Diagnostics.use(({ examine }) => examine))
  expect(authority).toMatchObject({ authorsExtensions: [{ name: "pg_trgm", schema: "cabinet_search" }] })
  // Following the message's instructions is enough.
  const owner = (statement: string) => reading.runtime.runPromise(PgClient.PgClient.use((sql) => sql.unsafe(statement)))
  await owner("DROP EXTENSION pg_trgm CASCADE")
  await owner("CREATE EXTENSION pg_trgm SCHEMA cabinet_search")
  expect(await build("letters")).toMatchObject({ success: { built: true } })
  await expect(reading.run("DROP EXTENSION pg_trgm CASCADE")).rejects.toThrow()
  await owner("DROP EXTENSION pg_trgm CASCADE")
})

it("a search index is refused while pg_trgm is in a schema of the author's", async () => {
  await reading.addSchema("mine")
  await reading.database.run("CREATE EXTENSION pg_trgm SCHEMA mine")
  expect(await build("letters")).toMatchObject({
    failure: { code: "no_trigrams", message: expect.stringContaining("mine") },
  })
  // The owner of a schema can grant itself the privilege again between two of our statements.
  await reading.run("REVOKE CREATE ON SCHEMA mine FROM CURRENT_USER")
  expect(await build("letters")).toMatchObject({
    failure: { code: "no_trigrams", message: expect.stringContaining("mine") },
  })
  await reading.database.run("DROP EXTENSION pg_trgm")
})

it("TRIGRAMS_KNOW_LETTERS calls the function, never a type of the same name", async () => {
  await reading.database.run("CREATE EXTENSION pg_trgm SCHEMA public")
  const asked = PgClient.PgClient.use((sql) => sql.unsafe(TRIGRAMS_KNOW_LETTERS('"public"')))
  expect(await reading.runtime.runPromise(asked)).toHaveLength(1)
  expect(await ran()).toEqual([])
  await reading.database.run("DROP EXTENSION pg_trgm")
})
