/**
 * Whether a source is silent for longer than usual. The measure is the third longest silence of four weeks: nights and
 * weekends occur more often than that, an outage or a holiday does not.
 */
import type { Silence } from "./ActivityStore.ts"

/** A source that received on fewer days of the four weeks has no usual silence. */
const LEAST_ACTIVE_DAYS = 5
const TOLERANCE = 1.5
/** Counts by the hour cannot show shorter silences. */
export const SHORTEST_SILENCE_SECONDS = 2 * 3600
/** After this long the silence is known. */
export const LONGEST_SILENCE_SECONDS = 28 * 86_400

/** True if the silence is longer than the source's usual ones. */
export const isQuiet = ({ seconds, activeDays, usualSeconds }: Silence): boolean =>
  activeDays >= LEAST_ACTIVE_DAYS &&
  usualSeconds !== null &&
  seconds <= LONGEST_SILENCE_SECONDS &&
  seconds > Math.max(SHORTEST_SILENCE_SECONDS, usualSeconds * TOLERANCE)
