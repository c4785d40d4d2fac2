/** `Prefer: wait=N` (RFC 7240): for how long a client would rather wait than get an empty response. */

const WAIT = /(?:^|,)\s*wait\s*=\s*("?)(\d{1,9})\1\s*(?=[,;]|$)/i

/** In seconds, at most `most`; null without the preference, or for a malformed one, which the RFC says to ignore. */
export const preferredWait = (header: string | undefined, most: number): number | null => {
  if (header === undefined) return null
  const seconds = WAIT.exec(header)?.[2]
  return seconds === undefined ? null : Math.min(Number(seconds), most)
}
