/** The operators of a cabinet: their tokens are issued once, listed without the secret, revoked at once. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { KeyError } from "./ApiKeys.ts"
import type { IssuedOperator, Operator } from "./Operator.ts"

export class Operators extends Context.Service<
  Operators,
  {
    readonly issue: (name: string) => Effect.Effect<IssuedOperator, KeyError | StoreUnavailable>
    readonly list: Effect.Effect<ReadonlyArray<Operator>, StoreUnavailable>
    readonly revoke: (id: number) => Effect.Effect<Operator, KeyError | StoreUnavailable>
    /** Whose live token this is; the use is noted. */
    readonly find: (fingerprint: Uint8Array) => Effect.Effect<Option.Option<Operator>, StoreUnavailable>
  }
>()("@data-cabinet/core/key/Operators") {}
