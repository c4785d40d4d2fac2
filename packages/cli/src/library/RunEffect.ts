/**
 * Runs the calls of a Promise interface in the cabinet's context. They are counted, so that closing can wait for them, and
 * refused once it has begun. They reject with a CabinetError.
 */
import { type Actor, CurrentActor } from "@data-cabinet/core/audit/Actor"
import { type Context, Effect, Exit } from "effect"
import type { CabinetServices } from "../compose/CabinetLayer.ts"
import { closed, fromCause, type KnownError } from "./CabinetError.ts"
import type { InFlight } from "./InFlight.ts"

/** Runs effects over the services it holds. */
export type RunOver<R> = <A, E extends KnownError>(effect: Effect.Effect<A, E, R>) => Promise<A>

/** Runs an Effect over a cabinet's services as a promise. */
export type Run = RunOver<CabinetServices>

/** The program that embeds the cabinet may do everything. */
const PROGRAM: Actor = { kind: "program", id: null, name: "program", role: "owner", from: null, requestId: null }

/** `services` includes the logger. */
export const runIn =
  <R>(services: Context.Context<R>, inFlight: InFlight): RunOver<R> =>
  async (effect) => {
    if (inFlight.isClosing) throw closed()
    const done = inFlight.begin()
    try {
      const acting = Effect.provideService(effect, CurrentActor, PROGRAM)
      const exit = await Effect.runPromiseExitWith(services)(acting, { signal: inFlight.broken })
      if (Exit.isSuccess(exit)) return exit.value
      throw fromCause(exit.cause)
    } finally {
      done()
    }
  }
