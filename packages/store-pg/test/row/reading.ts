/** Shared by the tests of reading: a cabinet whose rows are read as the API reads them. */
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import type { ParamPairs } from "@data-cabinet/core/selection/SelectionParams"
import { type RowsPage, SelectRows } from "@data-cabinet/core/selection/SelectRows"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { ensureRoles } from "@data-cabinet/store-pg/migrations/PgRoles"
import { PgClient } from "@effect/sql-pg"
import { Effect, ManagedRuntime, Redacted, Result } from "effect"
import { testDatabase } from "../../../../test/support/postgres.ts"
import { testCabinet, type TestCabinetOptions } from "../../../../test/support/testCabinet.ts"

export type ReadingOptions = Pick<TestCabinetOptions, "maxReaderConnections" | "settings">

/** A page with its items as texts. */
export type TextPage = Omit<RowsPage, "items"> & { readonly items: ReadonlyArray<string> }

export const withTexts = <E, R>(self: Effect.Effect<RowsPage, E, R>): Effect.Effect<TextPage, E, R> =>
  Effect.map(self, (page) => ({ ...page, items: page.items.texts() }))

/** A cabinet in a database whose author's tables the reader may read. */
export const openReading = async (options: ReadingOptions = {}) => {
  const database = await testDatabase()
  const owner = OwnerClient.layer({ url: database.url })
  const roles = await Effect.runPromise(ensureRoles({ url: database.url }).pipe(Effect.provide(owner)))
  if (!roles.reader.there || !roles.author.there) throw new Error("The test's owner may make roles")
  const runtime = testCabinet(database.url, { ...options, settings: { ...options.settings, reading: "on" }, roles })
  const author = ManagedRuntime.make(
    PgClient.layer({
      url: Redacted.make(roles.author.url),
      maxConnections: 4,
      startupParameters: { search_path: "public, ext" },
    }),
  )
  const authorRole = roles.author.role
  return {
    database,
    runtime,
    readerRole: roles.reader.role,
    authorRole,
    /** Runs one statement as the cabinet's author. */
    run: (statement: string, values: ReadonlyArray<unknown> = []) =>
      author.runPromise(PgClient.PgClient.use((sql) => sql.unsafe<Record<string, unknown>>(statement, values))),
    /** Creates a schema of the author's, as `schema add` does. */
    addSchema: (schema: string) => database.run(`CREATE SCHEMA ${schema} AUTHORIZATION "${authorRole}"`),
    /**
     * Runs one statement as the author of a database from an earlier version, who could create schemas and extensions.
     */
    asBefore: async (statement: string) => {
      await database.run(`GRANT CREATE ON DATABASE ${database.name} TO "${authorRole}"`)
      try {
        return await author.runPromise(PgClient.PgClient.use((sql) => sql.unsafe(statement)))
      } finally {
        await database.run(`REVOKE CREATE ON DATABASE ${database.name} FROM "${authorRole}"`)
      }
    },
    /** A page of `public.name`, its items as text, or the error's code, param and message. */
    page: (name: string, params: ParamPairs = [], schema = "public") =>
      runtime.runPromise(
        SelectRows.use((rows) => fromCall((call) => rows.page({ schema, name, params }, call))).pipe(
          withTexts,
          Effect.result,
        ),
      ),
    close: async () => {
      await runtime.dispose()
      await author.dispose()
      await database.drop()
    },
  }
}

export type Reading = Awaited<ReturnType<typeof openReading>>

/** The items of a page that must have succeeded, parsed. */
export const itemsOf = (result: Awaited<ReturnType<Reading["page"]>>): Array<Record<string, unknown>> =>
  Result.getOrThrow(result).items.map((item) => JSON.parse(item))

/** All pages of a walk. */
export const walk = async (reading: Reading, name: string, params: ParamPairs, schema = "public") => {
  const items: Array<string> = []
  let cursor: string | null = null
  for (let pages = 1; ; pages++) {
    const page: TextPage = Result.getOrThrow(
      await reading.page(name, cursor === null ? params : [...params, ["cursor", cursor]], schema),
    )
    items.push(...page.items)
    if (pages > 5_000) throw new Error(`The walk does not end: ${name} ${JSON.stringify(params)} ${cursor}`)
    if (!page.hasMore) return { items, pages }
    cursor = page.nextCursor
  }
}
