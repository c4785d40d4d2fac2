/**
 * Lets the processes that serve cabinets notify those that work in the background which cabinets are in use, through
 * the server's own database.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { listenForHints } from "../connection/Hints.ts"

export const CHANNEL = "cabinet_in_use"

/** A lost notification does no harm: the periodic round finds the work later. */
export const notify = (name: string) => PgClient.PgClient.use((sql) => Effect.ignore(sql.notify(CHANNEL, name)))

/** Runs `work` for each known name that is notified, until interrupted. Unknown names cost nothing. */
export const listen = <E, R>(isKnown: (name: string) => boolean, work: (name: string) => Effect.Effect<void, E, R>) =>
  listenForHints({
    channel: CHANNEL,
    isHint: isKnown,
    work: (names) => Effect.forEach(names, work, { discard: true }),
  })
