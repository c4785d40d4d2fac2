/**
 * `cabinet export --events`: the events after a cursor as a file, with the next cursor in `FILE.cursor`. The cursor is
 * written last: a file counts once it has its cursor, and a file without one is written again.
 */
import { readdir, readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { exportEvents } from "@data-cabinet/core/export/ExportEvents"
import type { ExportFormat, ExportShape } from "@data-cabinet/core/export/ExportFormat"
import { fileEncoder } from "@data-cabinet/http-node/export/FileEncoder"
import { Effect } from "effect"
import { outputFile } from "../output/OutputFile.ts"
import { CommandError } from "../error/CommandError.ts"
import { type OnProgress, writeRows } from "./WriteRows.ts"

export interface WrittenEvents {
  /** Null if there was no event, and so no file. */
  readonly file: string | null
  readonly events: number
  readonly bytes: number
  readonly nextCursor: string
}

export interface EventsToWrite {
  readonly after: string | undefined
  readonly format: ExportFormat
  readonly shape: ExportShape
  readonly tell: OnProgress
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

const attempt = <A>(work: () => Promise<A>) => Effect.tryPromise({ try: work, catch: asError })

/** Writes one file; with `evenIfEmpty` also without any event. */
export const writeEvents = Effect.fnUntraced(function* (
  to: string,
  { after, format, shape, tell }: EventsToWrite,
  evenIfEmpty: boolean,
) {
  const events = yield* exportEvents(after, format === "ndjson")
  if (events.isEmpty && !evenIfEmpty) {
    return { file: null, events: 0, bytes: 0, nextCursor: events.nextCursor() } satisfies WrittenEvents
  }
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const rows = yield* outputFile(to)
      const cursor = yield* outputFile(`${to}.cursor`)
      // The cursor of an earlier file must not be left next to this one.
      yield* attempt(() => rm(`${to}.cursor`, { force: true }))
      const written = yield* attempt(() => writeRows(events, fileEncoder(format, "events", shape), rows, tell))
      const nextCursor = events.nextCursor()
      yield* attempt(async () => {
        await cursor.write(Buffer.from(`${nextCursor}\n`))
        await cursor.finish()
      })
      return { file: to, events: written.rows, bytes: written.bytes, nextCursor } satisfies WrittenEvents
    }),
  )
})

const NAME = /^events-(\d{6,9})\.[a-z]+\.cursor$/

const namesIn = (dir: string) =>
  readdir(dir).catch((error: Error) => {
    throw new CommandError({ code: "refused", message: `Cannot write into ${dir}: ${error.message}` })
  })

/** Where the files of a directory end: the number of the next one, and the cursor after which it begins. */
const endOf = async (dir: string, after: string | undefined) => {
  const numbers = (await namesIn(dir)).flatMap((name) => {
    const number = NAME.exec(name)?.[1]
    return number === undefined ? [] : [{ name, number: Number(number) }]
  })
  const last = numbers.sort((one, other) => one.number - other.number).at(-1)
  if (last === undefined) return { number: 1, cursor: after }
  if (after !== undefined) {
    throw new CommandError({
      code: "usage",
      message: `${dir} already has files of events and continues after the last one: omit --after.`,
    })
  }
  return { number: last.number + 1, cursor: (await readFile(join(dir, last.name), "utf8")).trim() }
}

/** Writes the next file of a directory, if there are events for it. */
export const writeNextEvents = Effect.fnUntraced(function* (dir: string, events: EventsToWrite) {
  const { number, cursor } = yield* attempt(() => endOf(dir, events.after))
  const to = join(dir, `events-${String(number).padStart(6, "0")}.${events.format}`)
  return yield* writeEvents(to, { ...events, after: cursor }, false)
})
