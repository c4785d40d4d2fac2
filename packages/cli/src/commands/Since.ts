/** `--since 12h`: a time, or how long ago it was. */
import { parseLifetime } from "@data-cabinet/core/key/Lifetime"
import { isTimestamp } from "@data-cabinet/core/text/Timestamp"

/** RFC 3339; null for a text of another form. */
export const sinceOf = (text: string): string | null => {
  if (isTimestamp(text)) return text
  const seconds = parseLifetime(text)
  return seconds === null ? null : new Date(Date.now() - seconds * 1_000).toISOString()
}
