/** Facts about cold history: its list, and a look at its files that takes a bounded time, however many there are. */
import { ColdFailure, type ColdFile, ColdFiles } from "@data-cabinet/core/cold/ColdFiles"
import { named } from "@data-cabinet/core/cold/ColdOverview"
import { ColdAfter, type ListedFile } from "@data-cabinet/core/cold/ColdStore"
import type { ColdReport } from "@data-cabinet/core/diagnostics/ColdFindings"
import { PgClient } from "@effect/sql-pg"
import { Effect, Random } from "effect"
import { FILES, type FileRow } from "../cold/ColdStatement.ts"
import { toListed } from "../cold/PgColdStore.ts"
import { behind } from "../feed/Behind.ts"

/** How long the files are looked at. */
const FILES_SECONDS = 4

const WORK = `
SELECT cabinet.rfc3339(worked_at) AS "workedAt", failures, error,
  leased_until < clock_timestamp() AND worked_at < cabinet.now() - interval '1 hour' AS "isIdle"
FROM cabinet.cold_state`

/** A file is written when it is full, or when its first event has been old enough for a week; a day more is too late. */
const TOO_LATE = "interval '8 days'"

/** $1 to $3: the border; $4: the age in hours from which events move. The first event above it, if it is too old. */
const LATE = `
SELECT cabinet.rfc3339(w.received_at) AS at FROM (
  SELECT * FROM (${behind("e.epoch, e.xid, e.id, e.received_at", ["$1::int8", "$2::int8", "$3::int8"], "", "1")}) c
  ORDER BY c.epoch, c.xid, c.id LIMIT 1
) w WHERE w.received_at < cabinet.now() - make_interval(hours => $4::int4) - ${TOO_LATE}`

/** Rows of files that are emptied are few, but for those that were brought back. */
const MOST_ROWS = 100_000

/** The first erasure that is in no file yet, if that takes too long: a file that was listed since has it. */
const ERASURES = `
SELECT cabinet.rfc3339(min(w.purged_at)) AS at FROM (
  SELECT e.purged_at, f.listed_at FROM cabinet.cold_file f JOIN cabinet.event e ON e.channel IN ('webhook', 'file', 'pull')
    AND (e.epoch, e.xid, e.id) >= (f.first_epoch, f.first_xid, f.first_id)
    AND (e.epoch, e.xid, e.id) <= (f.last_epoch, f.last_xid, f.last_id)
  WHERE f.name IS NOT NULL AND f.emptied_at IS NOT NULL LIMIT ${MOST_ROWS}
) w WHERE w.purged_at > w.listed_at AND w.purged_at < cabinet.now() - interval '3 hours'`

interface Work extends Pick<ColdReport, "workedAt" | "failures" | "error"> {
  readonly isIdle: boolean | null
}

/** An index of a list. */
const anyOf = ({ length }: { readonly length: number }) =>
  Effect.map(Random.next, (random) => Math.floor(random * length))

/** What is wrong with a file, of which a group is read; null if nothing is. */
const problemIn = (files: ColdFiles["Service"], listed: ListedFile & { readonly name: string }) =>
  Effect.gen(function* () {
    const file: ColdFile = yield* files.open(listed.name)
    const events = file.groups.reduce((sum, group) => sum + group.events, 0)
    const isListed = file.bytes === listed.bytes && events === listed.events
    const index = yield* anyOf(file.groups)
    const read = yield* file.read(index)
    const isWhole = isListed && read.length === file.groups[index]!.events
    return isWhole ? null : `The file ${listed.name} is not as it was written.`
  }).pipe(Effect.catch(({ message, missing }) => Effect.succeed(missing === true ? null : message)))

/** The first and the last file, and one between them. */
const sampleOf = Effect.fnUntraced(function* <A>(files: ReadonlyArray<A>) {
  const chosen = new Set([0, files.length - 1, yield* anyOf(files)])
  return files.filter((_, index) => chosen.has(index))
})

const lookInto = (files: ColdFiles["Service"], listed: ReadonlyArray<ListedFile & { readonly name: string }>) =>
  Effect.gen(function* () {
    const there = new Set(yield* files.names(""))
    const missing = listed.filter(({ name }) => !there.has(name)).map(({ name }) => name)
    const found = yield* sampleOf(listed.filter(({ name }) => there.has(name)))
    const damaged = (yield* Effect.forEach(found, (file) => problemIn(files, file))).filter((one) => one !== null)
    return { unreachable: null, missing, damaged }
  }).pipe(
    Effect.timeoutOrElse({
      duration: `${FILES_SECONDS} seconds`,
      orElse: () => Effect.fail(new ColdFailure({ message: `it did not respond within ${FILES_SECONDS} s` })),
    }),
    Effect.catch(({ message }) => Effect.succeed({ unreachable: message, missing: [], damaged: [] })),
  )

const NOT_LOOKED_AT = { unreachable: null, missing: [], damaged: [] }

/** The facts; null without files, and without a place for them. */
export const coldFacts = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const files = yield* ColdFiles
  const after = yield* ColdAfter
  return Effect.gen(function* () {
    const { location } = files
    const all = (yield* sql.unsafe<FileRow>(FILES)).map(toListed)
    const listed = named(all)
    if (location === null && listed.length === 0) return null
    const [work] = yield* sql.unsafe<Work>(WORK)
    const { epoch, xid, id } = all.at(-1)?.last ?? { epoch: 0, xid: 0n, id: 0 }
    const [late] = after === null ? [] : yield* sql.unsafe<{ readonly at: string }>(LATE, [epoch, xid, id, after])
    const [erasure] = yield* sql.unsafe<{ readonly at: string | null }>(ERASURES)
    const looked = location === null ? NOT_LOOKED_AT : yield* lookInto(files, listed)
    const report: ColdReport = {
      location,
      files: listed.length,
      events: listed.reduce((sum, file) => sum + file.events, 0),
      bytes: listed.reduce((sum, file) => sum + file.bytes, 0),
      workedAt: work!.workedAt,
      isIdle: work!.isIdle === true,
      failures: work!.failures,
      error: work!.error,
      ...looked,
      lateSince: late?.at ?? null,
      erasureSince: erasure?.at ?? null,
    }
    return report
  })
})
