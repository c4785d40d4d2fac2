/**
 * Failures besides the errors of a use case: the server refuses the token, or the request as such, or is not a cabinet.
 * No use case's errors have a place for it, so it is thrown as a defect, which the code that composes a remote cabinet
 * catches.
 */
import { Data, Effect } from "effect"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"

/** `code` is the API's own, or `not_a_cabinet` for a response that no cabinet gives. */
export class RemoteRefusal extends Data.TaggedError("RemoteRefusal")<{
  readonly code: string
  readonly message: string
  readonly param: string | null
  /** Whole seconds. */
  readonly retryAfter: number
}> {}

/** The request was shown and not sent, so it has no result. */
export class RequestShown extends Data.TaggedError("RequestShown")<{}> {}

type Failed = RemoteRefusal | StoreUnavailable

/** Fails with the use case's own error where `known` has one, and dies of any other refusal. */
export const refusedAs = <A, E>(
  work: Effect.Effect<A, Failed>,
  known: (refusal: RemoteRefusal) => E | undefined,
): Effect.Effect<A, E | StoreUnavailable> =>
  Effect.catchTag(work, "RemoteRefusal", (refusal): Effect.Effect<never, E> => {
    const error = known(refusal)
    return error === undefined ? Effect.die(refusal) : Effect.fail(error)
  })

interface ErrorWithCode<E> {
  new (fields: { readonly code: never; readonly message: string }): E
  readonly fields: { readonly code: { readonly literals: ReadonlyArray<string> } }
}

/** For an error of core with a closed list of codes: built again from the API's, whose words are core's. */
export const ofCodes =
  <E>(error: ErrorWithCode<E>) =>
  ({ code, message }: RemoteRefusal): E | undefined =>
    error.fields.code.literals.includes(code) ? new error({ code: code as never, message }) : undefined

/** For use cases that refuse nothing. */
export const refusalAsDefect = <A>(work: Effect.Effect<A, Failed>): Effect.Effect<A, StoreUnavailable> =>
  refusedAs<A, never>(work, () => undefined)
