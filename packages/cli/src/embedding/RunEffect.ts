/** How a call of a Promise face is run: in the cabinet's context, refused once it is closed. */
import type { CabinetServices } from "../cabinet/CabinetLayer.ts"
import type { Effect } from "effect"

/** Rejects with the use case's own error: an `Error` with a `code` from a closed list and a message in words. */
export type Run = <A, E>(effect: Effect.Effect<A, E, CabinetServices>) => Promise<A>
