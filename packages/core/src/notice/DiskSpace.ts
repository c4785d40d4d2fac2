/** How much room the database's disk has. */
import { Context, Effect } from "effect"
import type { DiskFact } from "./NoticeFacts.ts"

export class DiskSpace extends Context.Service<
  DiskSpace,
  {
    /** Null where it cannot be measured: the database is on another machine, or its directory is not known. */
    readonly look: Effect.Effect<DiskFact | null>
  }
>()("@data-cabinet/core/notice/DiskSpace") {}

export const UNKNOWN_DISK = DiskSpace.of({ look: Effect.succeed(null) })
