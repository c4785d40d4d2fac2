/** The outcomes of rereadings, as JSON. */
import type { ChangedValue } from "../intake/RereadOriginal.ts"
import type { RereadExample } from "./RereadExample.ts"
import type { RereadPage, RereadVerdicts } from "./Rereading.ts"

const valueJson = ({ field, fieldBefore, before, after }: ChangedValue) => ({
  field,
  field_before: fieldBefore,
  before,
  after,
})

/** A changed event with its values. */
export const rereadExampleJson = (example: RereadExample | null) =>
  example === null ? null : { event: example.event, values: example.values.map(valueJson), more: example.more }

/** Verdicts by event. */
export const rereadVerdictsJson = ({ verdicts, example, deliveries }: RereadVerdicts) => ({
  verdicts: verdicts.map(({ id, outcome, reason, replaced }) => ({ id, outcome, reason, replaced })),
  example: rereadExampleJson(example),
  deliveries,
})

/** Verdicts of a page. */
export const rereadPageJson = (page: RereadPage) => ({
  ...rereadVerdictsJson(page),
  seen: page.seen,
  next_cursor: page.nextCursor,
})
