/** Times on a command line: how long something lasts, and since when. */
import { parseLifetime } from "@data-cabinet/core/key/Lifetime"
import { Option } from "effect"
import { Flag } from "effect/cli"
import { isTimestamp } from "@data-cabinet/core/text/Timestamp"

/** `--expires 90d`: for how long a key or a token is valid, in seconds; null without the flag. */
export const expiresFlag = Flag.String("expires").pipe(
  Flag.withMetavar("TIME"),
  Flag.withDescription("Lifetime, such as 90d, 12h or 30m (default: does not expire)"),
  Flag.filterMap(
    (text) => Option.fromNullishOr(parseLifetime(text)),
    (text) => `--expires is ${JSON.stringify(text)}: it must be a duration such as 90d, 12h or 30m, at most 3650d`,
  ),
  Flag.optional,
  Flag.map(Option.getOrNull),
)

/** `--keep-old 24h`: for how long the replaced one stays valid, in seconds; null without the flag. */
export const keepOldFlag = (about: string) =>
  Flag.String("keep-old").pipe(
    Flag.withMetavar("TIME"),
    Flag.withDescription(about),
    Flag.filterMap(
      (text) => Option.fromNullishOr(parseLifetime(text)),
      (text) => `--keep-old is ${JSON.stringify(text)}: it must be a duration such as 24h, 30m or 7d`,
    ),
    Flag.optional,
    Flag.map(Option.getOrNull),
  )

interface Expiring {
  readonly expiresAt: string | null
  readonly revokedAt: string | null
}

/** For a list. Only the database's clock can say whether it has expired, so the time itself is shown. */
export const stateOf = ({ expiresAt, revokedAt }: Expiring): string =>
  revokedAt !== null ? `revoked ${revokedAt}` : expiresAt === null ? "good" : `until ${expiresAt}`

/** `--since 12h`: a time, or how long ago it was, as RFC 3339; null for a text of another form. */
export const sinceOf = (text: string): string | null => {
  if (isTimestamp(text)) return text
  const seconds = parseLifetime(text)
  return seconds === null ? null : new Date(Date.now() - seconds * 1_000).toISOString()
}
