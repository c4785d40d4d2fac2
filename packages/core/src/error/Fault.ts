/** Describes a fault of the program itself, for storage and for logs. */

const MAX_LENGTH = 300

/** Only the kind of the fault (`RangeError`): its message may quote a sender's data, which must not be logged. */
export const faultName = (fault: unknown): string => (fault instanceof Error ? fault.name : "a fault without a name")

/**
 * The fault with its message, truncated to a length that is safe to store and to show to the operator. PostgreSQL can hold
 * the text.
 */
export const faultInWords = (fault: unknown): string =>
  (fault instanceof Error ? `${fault.name}: ${fault.message}` : String(fault))
    .slice(0, MAX_LENGTH)
    .replaceAll("\0", "\uFFFD")
    .toWellFormed()
