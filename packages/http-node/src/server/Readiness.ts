/** Whether this process can serve: the database responds and its schema is up to date. */
import { Context, type Effect } from "effect"

export class Readiness extends Context.Service<
  Readiness,
  {
    /** Null when ready; otherwise the missing part, in words for an operator. */
    readonly check: Effect.Effect<string | null>
  }
>()("@data-cabinet/http-node/server/Readiness") {}
