/** What the program got wrong by itself, in words: for what is kept of it, and for logs. */

const MAX_LENGTH = 300

/** Its kind alone (`RangeError`): a fault's own words may quote what was sent, and logs hold nothing of that. */
export const faultName = (fault: unknown): string => (fault instanceof Error ? fault.name : "a fault without a name")

/** With its own words, cut to a length that is safe to keep and to show to the operator. PostgreSQL can hold it. */
export const faultInWords = (fault: unknown): string =>
  (fault instanceof Error ? `${fault.name}: ${fault.message}` : String(fault))
    .slice(0, MAX_LENGTH)
    .replaceAll("\0", "\uFFFD")
    .toWellFormed()
