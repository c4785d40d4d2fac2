/** `--limit`: how many entries of a list a command shows. Any other number is refused: a shorter list would look complete. */
import { Flag } from "effect/cli"

/** `of`: what is listed, such as "entries"; `most`: the largest number. */
export const limitFlag = (of: string, most: number, fallback: number) =>
  Flag.Int("limit").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription(`Maximum number of ${of}, 1 to ${most}; default: ${fallback}`),
    Flag.filter(
      (limit) => limit >= 1 && limit <= most,
      (limit) => `--limit is ${limit}: it must be an integer from 1 to ${most}`,
    ),
    Flag.withDefault(fallback),
  )
