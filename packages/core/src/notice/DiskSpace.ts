/** Measures the free space on the database's disk. */
import { Context, Effect } from "effect"
import type { DiskFact } from "./NoticeFacts.ts"

export class DiskSpace extends Context.Service<
  DiskSpace,
  {
    /** Null if it cannot be measured: the database is on another machine, or its directory is unknown. */
    readonly look: Effect.Effect<DiskFact | null>
  }
>()("@data-cabinet/core/notice/DiskSpace") {}

/** For databases whose disk cannot be measured. */
export const UNKNOWN_DISK = DiskSpace.of({ look: Effect.succeed(null) })
