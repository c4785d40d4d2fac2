/** `--limit`: how many entries of a list a command shows. Any other number is refused: a shorter list would look complete. */
import type { IdQuery } from "@data-cabinet/core/pagination/IdPages"
import { Effect } from "effect"
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

/** `--after` and `--limit` of a list in the order of its ids. `of`: what is listed, in the plural. */
export const idPageFlags = (of: string) => ({
  after: Flag.Int("after").pipe(
    Flag.withMetavar("ID"),
    Flag.withDescription(`Only ${of} after the one with this id, for the next page`),
    Flag.withDefault(0),
  ),
  limit: limitFlag(of, 10_000, 1000),
})

/** A page of such a list, and the line below it that says where the next one begins; empty on the last page. */
export const idPage = <A extends { readonly id: number }, E, R>(
  list: (query: IdQuery) => Effect.Effect<ReadonlyArray<A>, E, R>,
  { after, limit }: IdQuery,
) =>
  Effect.map(list({ after, limit: limit + 1 }), (found) => {
    const items = found.slice(0, limit)
    return { items, more: found.length > limit ? `\n\nMore results: --after ${items.at(-1)!.id}` : "" }
  })
