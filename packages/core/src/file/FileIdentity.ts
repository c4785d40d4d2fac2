/** What a file is recognized by, so that it is not imported twice by mistake. */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { FileInspection } from "./FileInspection.ts"
import type { ReadableFile } from "./ReadableFile.ts"
import type { SheetReader } from "./SheetReader.ts"

/**
 * The inspection with a checksum of the bytes and, where a file has several sheets or tables, of the one to be read. The sheet that
 * is read without a choice has the checksum of the bytes alone, also if it is chosen by name or number.
 */
export const identified = Effect.fnUntraced(function* (
  sheets: SheetReader["Service"],
  file: ReadableFile,
  look: FileInspection,
) {
  const part = yield* chosenPart(sheets, file, look)
  return part === null ? look : { ...look, sha256: createHash("sha256").update(look.sha256).update(part).digest() }
})

const chosenPart = Effect.fnUntraced(function* (
  sheets: SheetReader["Service"],
  file: ReadableFile,
  { html, sheet }: FileInspection,
) {
  if (html !== null) return html.isOnly ? null : String(html.table)
  if (sheet === undefined) return null
  const nameOf = (one: string | undefined) => Effect.scoped(Effect.map(sheets.open(file, one), ({ name }) => name))
  const name = yield* nameOf(sheet)
  const usual = yield* Effect.catchIf(
    nameOf(undefined),
    ({ code }) => code !== "busy",
    () => Effect.succeed(null),
  )
  return name === usual ? null : name
})
