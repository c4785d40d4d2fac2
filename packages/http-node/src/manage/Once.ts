/**
 * Requests with an `Idempotency-Key`: the endpoint runs once per key and actor, and a repeat gets the first response
 * without its secrets. A malformed key is refused here; for the other refusals see `Idempotency`.
 */
import type { Actor } from "@data-cabinet/core/audit/Actor"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { Idempotency } from "@data-cabinet/core/idempotency/Idempotency"
import { maskUrl } from "@data-cabinet/core/network/MaskedUrl"
import { Effect } from "effect"
import type { Request } from "../server/Request.ts"
import type { ManageCall, ManageEndpoint, ManageResult, Once } from "./ManageEndpoint.ts"
import type { ManageError } from "./ManageError.ts"

export const HEADER = "Idempotency-Key"
export const REPLAY_HEADER = "Idempotent-Replay"

export interface Outcome {
  readonly result: ManageResult
  readonly replayed: boolean
}

interface Sent {
  readonly actor: Actor
  readonly request: Request
  /** The endpoint's path, its segments' values, and the query. */
  readonly address: ReadonlyArray<string>
  /** As sent; empty without one. */
  readonly body: string
}

type Call = ManageCall<ReadonlyArray<unknown>, Readonly<Record<string, unknown>>, unknown>

/** Runs the work, or returns the stored result of the first run. */
export const onceFor = (
  idempotency: Idempotency["Service"],
  { once, method, respond }: ManageEndpoint,
  { actor, request, address, body }: Sent,
  call: Call,
): Effect.Effect<Outcome, ManageError | StoreUnavailable> => {
  const work = respond(call)
  const key = request.headers["idempotency-key"]
  if (once === null || key === undefined) return Effect.map(work, (result) => ({ result, replayed: false }))
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    return Effect.fail({ code: "bad_idempotency_key", message: `${HEADER} must be 1 to 255 visible ASCII characters.` })
  }
  const sent = JSON.stringify([method, ...address, body])
  const keyed = idempotency.once(
    { actor: `${actor.kind} ${actor.id ?? actor.name}`, key, request: sent },
    {
      completed: once.completed,
      work,
      kept: (result) => kept(once, result as object),
    },
  )
  return Effect.map(keyed, (outcome) =>
    outcome.replayed
      ? { result: JSON.parse(outcome.response) as object, replayed: true }
      : { result: outcome.result, replayed: false },
  )
}

const kept = ({ withheld = [] }: Once, result: object): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(result)
        .filter(([name]) => !withheld.includes(name))
        .map(([name, value]) => [name, name === "url" ? maskUrl(String(value)) : value]),
    ),
  )
