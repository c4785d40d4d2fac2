/** The additional headers of addresses and polls: the file names them, and refers to the values of those that are new. */
import type { RequestHeader } from "@data-cabinet/core/network/RequestHeader"
import type { Entry } from "./FileSchema.ts"
import type { Path, Problem } from "./Problem.ts"
import { type FieldChange, type Planning, SECRET } from "./Step.ts"

type HeaderEntries = NonNullable<Entry<"addresses">["headers"]>

/** What becomes of the headers. */
export interface PlannedHeaders {
  readonly fields: ReadonlyArray<FieldChange>
  readonly set: ReadonlyArray<RequestHeader>
  /** Names. */
  readonly removed: ReadonlyArray<string>
  readonly problems: ReadonlyArray<Problem>
}

const NONE: PlannedHeaders = { fields: [], set: [], removed: [], problems: [] }

const lower = (name: string) => name.toLowerCase()

/**
 * `current`: the names of the headers that there are. `replacesAll`: the object takes only all headers at once, so that a
 * change of one needs the values of all.
 */
export const planHeaders = (
  entries: HeaderEntries | undefined,
  current: ReadonlyArray<string>,
  { path, replacesAll, planning }: { readonly path: Path; readonly replacesAll: boolean; readonly planning: Planning },
): PlannedHeaders => {
  if (entries === undefined) return NONE
  const { references, sendSecrets } = planning
  const known = new Set(current.map(lower))
  const wanted = new Set(entries.map(({ name }) => lower(name)))
  const removed = current.filter((name) => !wanted.has(lower(name)))
  const isNew = (name: string) => !known.has(lower(name))
  const isAgain = (value: string | undefined) => sendSecrets && value !== undefined
  const isWhole =
    replacesAll && (removed.length > 0 || entries.some(({ name, value }) => isNew(name) || isAgain(value)))
  const problems: Array<Problem> = []
  const fields: Array<FieldChange> = removed.map((name) => ({ name: `headers.${name}`, before: SECRET, after: null }))
  const set: Array<RequestHeader> = []
  for (const [index, { name, value }] of entries.entries()) {
    const at = [...path, "headers", index]
    if (!isNew(name) && !isWhole && !isAgain(value)) continue
    if (value === undefined) {
      const message = isNew(name)
        ? `the header ${name} needs its value, which the cabinet does not have: write value: env:NAME or file:PATH.`
        : `the header ${name} needs its value, because the headers of a poll are replaced together: write value: env:NAME or file:PATH.`
      problems.push({ path: at, message })
      continue
    }
    set.push([name, references.read(value, [...at, "value"])])
    fields.push({ name: `headers.${name}`, before: isNew(name) ? null : SECRET, after: SECRET })
  }
  return { fields, set, removed, problems }
}
