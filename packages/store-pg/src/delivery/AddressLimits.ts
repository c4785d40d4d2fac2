/** How many addresses a source may have, and how many of them may have a filter. */
import type { Subscription } from "@data-cabinet/core/delivery/Address"
import { MAX_ADDRESSES, MAX_FILTERED_ADDRESSES, type TooManyAddresses } from "@data-cabinet/core/delivery/AddressStore"
import type { PgClient } from "@effect/sql-pg"
import { Data, Effect } from "effect"
import type { SqlError } from "effect/sql"
import * as AddressStatement from "./AddressStatement.ts"

type Sql = PgClient.PgClient

/** Rolls a change back after which a source would have too many addresses. */
export class Overfull extends Data.TaggedError("Overfull")<{
  readonly sourceId: number | null
  readonly filtered: boolean
}> {}

/**
 * Fails if one of these sources, except those that the address had before, has too many addresses, or too many with a
 * filter.
 */
const refuseOverfull = Effect.fnUntraced(function* (
  sql: Sql,
  sources: Subscription,
  had: ReadonlyArray<number>,
  filtered: boolean,
) {
  const meant = sources === "all" ? had : sources.filter((id) => !had.includes(id))
  const [overfull] = yield* sql.unsafe<{ readonly sourceId: number | null }>(AddressStatement.OVERFULL_SOURCE, [
    sources === "all",
    meant,
    filtered ? MAX_FILTERED_ADDRESSES : MAX_ADDRESSES,
    filtered,
  ])
  if (overfull !== undefined) yield* new Overfull({ ...overfull, filtered })
})

/** What an address gets by a change: additional sources, or a filter for all of them. */
export interface Gain {
  readonly sources: Subscription
  readonly had: Subscription
  readonly filtered: boolean
  readonly wasFiltered: boolean
}

/** Makes a change by which an address gets sources or a filter. They are counted while no other address gets any. */
export const gaining = <A, E>(
  sql: Sql,
  { sources, had, filtered, wasFiltered }: Gain,
  change: Effect.Effect<A, E>,
): Effect.Effect<A, E | SqlError.SqlError | Overfull> =>
  Effect.gen(function* () {
    yield* sql.unsafe(AddressStatement.HOLD_ADDRESSES)
    const changed = yield* change
    // An address that had every source gets no additional one.
    if (had !== "all") yield* refuseOverfull(sql, sources, had, false)
    if (filtered && !wasFiltered) yield* refuseOverfull(sql, sources, [], true)
    else if (filtered && had !== "all") yield* refuseOverfull(sql, sources, had, true)
    return changed
  })

/** The refusal of such a change, as its result. */
export const orTooMany = <A, E>(work: Effect.Effect<A, E | Overfull>) =>
  Effect.catchIf(
    work,
    (error): error is Extract<E | Overfull, Overfull> => error instanceof Overfull,
    ({ sourceId, filtered }) => Effect.succeed<TooManyAddresses>({ is: "too_many", sourceId, filtered }),
  )
