/** The outcomes of late verifications, as JSON. */
import type { LatePage, LateVerdicts } from "./LateVerification.ts"

/** The outcomes for given events, as JSON. */
export const lateVerdictsJson = ({ verdicts, deliveries }: LateVerdicts) => ({
  verdicts: verdicts.map(({ id, outcome, reason }) => ({ id, outcome, reason })),
  deliveries,
})

/** The outcomes for a page of events, as JSON. */
export const latePageJson = (page: LatePage) => ({
  ...lateVerdictsJson(page),
  seen: page.seen,
  next_cursor: page.nextCursor,
})
