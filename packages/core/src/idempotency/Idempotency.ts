/**
 * Does work once for a key that its client chose, however often the client repeats the request. A repeat gets the first
 * response. Refuses a different request under the same key, a repeat while the first is still running, and one whose
 * first never ended, because its outcome is unknown.
 *
 * Decision: docs/decisions/0058-an-idempotency-key-completes-with-its-work.md
 */
import { Context, Effect, Exit, Fiber, Layer, Schema } from "effect"
import { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { IdempotencyStore, type KeyedRequest } from "./IdempotencyStore.ts"

/** The error for a refused idempotency key. */
export class IdempotencyError extends Schema.TaggedError<IdempotencyError>()("IdempotencyError", {
  code: Schema.Literals(["idempotency_mismatch", "in_progress", "outcome_unknown"]),
  message: Schema.String,
}) {}

/** How long a response is kept before retention deletes it. */
const KEPT_SECONDS = 86_400

/** After this time, work that has not ended counts as lost. */
const LOST_SECONDS = 60

/** How a client's work is recorded. */
export interface KeyedWork<A, E, R> {
  /**
   * `transaction`: the record is completed in the work's own transaction, so that both commit or neither. `after`: for
   * work that reaches beyond the database; if it is killed in between, its outcome is unknown.
   */
  readonly completed: "transaction" | "after"
  readonly work: Effect.Effect<A, E, R>
  /** The response to a repeat. Never secrets. */
  readonly kept: (result: A) => string
}

/** The result of the work, or the stored response of an earlier request. */
export type KeyedResult<A> =
  | { readonly replayed: false; readonly result: A }
  | { readonly replayed: true; readonly response: string }

export class Idempotency extends Context.Service<
  Idempotency,
  {
    /** The work continues if its caller is interrupted: a client that disconnected will retry. */
    readonly once: <A, E, R>(
      request: KeyedRequest,
      work: KeyedWork<A, E, R>,
    ) => Effect.Effect<KeyedResult<A>, E | IdempotencyError | StoreUnavailable, R>
  }
>()("@data-cabinet/core/idempotency/Idempotency") {
  static readonly layer = Layer.effect(
    Idempotency,
    Effect.map(IdempotencyStore, (store) =>
      Idempotency.of({
        once: (request, work) =>
          Effect.flatMap(Effect.forkDetach(onceOver(store, request, work), { startImmediately: true }), Fiber.join),
      }),
    ),
  )
}

const refuse = (code: IdempotencyError["code"], message: string) => new IdempotencyError({ code, message })

const onceOver = <A, E, R>(
  store: IdempotencyStore["Service"],
  request: KeyedRequest,
  { completed, work, kept }: KeyedWork<A, E, R>,
): Effect.Effect<KeyedResult<A>, E | IdempotencyError | StoreUnavailable, R> =>
  Effect.gen(function* () {
    const claim = yield* store.claim(request, KEPT_SECONDS)
    if (claim.is === "found") {
      if (!claim.sameRequest) {
        return yield* refuse("idempotency_mismatch", "This Idempotency-Key was sent with another request before.")
      }
      if (claim.response !== null) return { replayed: true, response: claim.response }
      return yield* claim.ageSeconds < LOST_SECONDS
        ? refuse("in_progress", "The first request with this Idempotency-Key is still in progress.")
        : refuse(
            "outcome_unknown",
            "The first request with this Idempotency-Key did not finish: check whether its work was done before you send it with a new key.",
          )
    }
    const noted = Effect.flatMap(work, (result) => Effect.as(complete(store, claim.id, kept(result)), result))
    const whole = completed === "transaction" ? store.transaction(noted) : noted
    const result = yield* Effect.onExit(whole, (exit) =>
      Exit.isFailure(exit) && (completed === "transaction" || isRefusal(exit))
        ? Effect.ignore(store.release(claim.id))
        : Effect.void,
    )
    return { replayed: false, result }
  })

/** A record that vanished during its work was released by another process: the work must not be done twice. */
const complete = (store: IdempotencyStore["Service"], id: number, response: string) =>
  Effect.flatMap(store.complete(id, response), (isThere) =>
    isThere ? Effect.void : Effect.die(new Error(`The idempotency record ${id} is gone`)),
  )

/** Whether the work refused the request, and so changed nothing. */
const isRefusal = (exit: Exit.Failure<unknown, unknown>): boolean =>
  exit.cause.reasons.every((reason) => reason._tag === "Fail" && !(reason.error instanceof StoreUnavailable))
