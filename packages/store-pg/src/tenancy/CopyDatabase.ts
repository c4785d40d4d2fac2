/**
 * Copies a cabinet's database into an empty one of the same name on another server, with `pg_dump` and `pg_restore`.
 * The author restores the author's objects: `pg_restore` runs the code in a view, a domain's check or an index while it
 * creates them, and as the owner that code would have the owner's rights.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import * as SessionPool from "../connection/SessionPool.ts"
import { unlimited } from "../connection/SessionSettings.ts"
import { connectionLossAsError, sqlMessage } from "../connection/StoreFailure.ts"
import { allowAuthorLogin } from "../connection/AuthorLogin.ts"
import type { Roles } from "../migrations/PgRoles.ts"
import { type ClientPrograms, runProgram, CopyError } from "./ClientPrograms.ts"

const ask = <Row extends object>(url: string, statement: string, values: ReadonlyArray<unknown> = []) =>
  PgClient.PgClient.use((sql) => sql.unsafe<Row>(statement, values)).pipe(
    connectionLossAsError,
    Effect.provide(
      SessionPool.layer({
        url,
        maxConnections: 1,
        connectTimeout: "5 seconds",
        applicationName: "data-cabinet move",
        settings: unlimited,
      }),
      { local: true },
    ),
    Effect.mapError(inWords),
  )

const inWords = (error: SqlError.SqlError) => new CopyError({ code: "failed", message: `${sqlMessage(error)}.` })

const PLACE = `
SELECT current_database()::text AS database, current_setting('server_version_num')::int4 / 10000 AS major,
       (SELECT count(*)::int4 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'e')) AS objects,
       pg_has_role((SELECT datdba FROM pg_database WHERE datname = current_database()), 'USAGE') AS mine`

interface Place {
  readonly database: string
  readonly major: number
  readonly objects: number
  readonly mine: boolean
}

const unfit = (message: string) => new CopyError({ code: "unfit", message })

/** Refuses a target that is not an empty database of the same name; returns the major version of the source server. */
export const checkTarget = Effect.fnUntraced(function* (from: string, to: string) {
  const [[old], [target]] = [yield* ask<Place>(from, PLACE), yield* ask<Place>(to, PLACE)]
  if (target!.database !== old!.database) {
    return yield* unfit(
      `The target's database must have the name ${old!.database}, because the names of the cabinet's roles contain it; this one is ${target!.database}.`,
    )
  }
  if (target!.objects > 0) {
    const is = target!.objects === 1 ? "1 object" : `${target!.objects} objects`
    return yield* unfit(`The target must be an empty database, and ${target!.database} has ${is} in it.`)
  }
  if (!target!.mine) {
    return yield* unfit(`The target's database must belong to the user of its URL, and ${target!.database} does not.`)
  }
  return old!.major
})

/** An entry of a dump's list ends with its owner. Casts have no owner, and may call a function of the author. */
const split = (list: string, author: string) => {
  const isAuthors = (line: string) =>
    (line.endsWith(` ${author}`) || /^\d+; \d+ \d+ CAST /.test(line)) && !/^\d+; \d+ \d+ SCHEMA /.test(line)
  const lines = list.split("\n")
  return {
    ours: lines.filter((line) => !isAuthors(line)).join("\n"),
    authors: lines.filter((line) => isAuthors(line)).join("\n"),
  }
}

const WHOLE = `
SELECT (SELECT count(*) FROM cabinet.event)::text AS events, (SELECT coalesce(max(id), 0) FROM cabinet.event)::text AS last,
       (SELECT count(*) FROM cabinet.source)::text AS sources, (SELECT count(*) FROM cabinet.delivery)::text AS deliveries,
       (SELECT count(*) FROM pg_class c WHERE c.relkind IN ('r', 'p', 'v', 'm') AND c.relnamespace IN
         (SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'))::text AS relations`

/**
 * The lists of readers' tokens, which refer to objects by oid: in a copy, the oids differ and the names are the same.
 */
const LISTS = `
SELECT coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'names', ARRAY(
    SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = ANY (t.only_objects)))), '[]')::text AS lists
FROM cabinet.access_token t WHERE t.only_in = cabinet.place()`

/** $1: the lists. */
const TAKE_LISTS = `
UPDATE cabinet.access_token t
SET only_in = cabinet.place(),
    only_objects = ARRAY(SELECT n.object::regclass::oid FROM jsonb_array_elements_text(l.list -> 'names') AS n(object))
FROM jsonb_array_elements($1::text::jsonb) AS l(list) WHERE t.id = (l.list ->> 'id')::int8`

export interface CopyOptions {
  readonly from: string
  readonly to: string
  readonly programs: ClientPrograms
  /** Opens the target as a cabinet: creates its roles and gives them the passwords stored in it. */
  readonly open: Effect.Effect<Roles, CopyError>
}

/** Copies everything, and compares the result. The database at `from` must be quiesced meanwhile. */
export const copyDatabase = ({ from, to, programs, open }: CopyOptions): Effect.Effect<void, CopyError> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      // A dump holds secrets.
      const dir = mkdtempSync(join(tmpdir(), "cabinet-move-"))
      chmodSync(dir, 0o700)
      return dir
    }),
    (dir) =>
      Effect.gen(function* () {
        const [dump, ours, authors] = [join(dir, "dump"), join(dir, "ours"), join(dir, "authors")]
        const { author } = yield* open
        if (!author.there) return yield* unfit(author.reason)
        yield* runProgram(programs.dump, ["--format=custom", `--file=${dump}`], from)
        const lists = split(yield* runProgram(programs.restore, ["--list", dump]), author.role)
        writeFileSync(ours, lists.ours)
        writeFileSync(authors, lists.authors)
        const restore = (words: ReadonlyArray<string>, url: string) =>
          runProgram(programs.restore, ["--single-transaction", "--exit-on-error", ...words, dump], url)
        yield* ask(to, "DROP SCHEMA cabinet, sources CASCADE")
        yield* restore([`--use-list=${ours}`], to)
        const now = (yield* open).author
        if (!now.there) return yield* unfit(now.reason)
        if (now.admittedBy !== undefined) yield* Effect.mapError(allowAuthorLogin(now.url, now.admittedBy), inWords)
        yield* restore(["--no-owner", `--use-list=${authors}`], now.url)
        const [before, after] = [yield* ask<object>(from, WHOLE), yield* ask<object>(to, WHOLE)]
        if (JSON.stringify(before) !== JSON.stringify(after)) {
          const message = `The copy is incomplete: ${JSON.stringify(after[0])} instead of ${JSON.stringify(before[0])}.`
          return yield* new CopyError({ code: "failed", message })
        }
        const [found] = yield* ask<{ readonly lists: string }>(from, LISTS)
        yield* ask(to, TAKE_LISTS, [found!.lists])
      }),
    (dir) => Effect.sync(() => rmSync(dir, { recursive: true, force: true })),
  )
