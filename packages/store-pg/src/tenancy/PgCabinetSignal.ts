/** Which cabinets are in use, told by the processes that serve them to those that work for them, through the server's own database. */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { listenForHints } from "../connection/Hints.ts"

export const CHANNEL = "cabinet_in_use"

/** A word that is lost does no harm: the round finds the work later. */
export const tell = (name: string) => PgClient.PgClient.use((sql) => Effect.ignore(sql.notify(CHANNEL, name)))

/** Runs `work` for each name that is told and known, until it is interrupted. Other names cost nothing. */
export const hear = <E, R>(isKnown: (name: string) => boolean, work: (name: string) => Effect.Effect<void, E, R>) =>
  listenForHints({
    channel: CHANNEL,
    isHint: isKnown,
    work: (names) => Effect.forEach(names, work, { discard: true }),
  })
