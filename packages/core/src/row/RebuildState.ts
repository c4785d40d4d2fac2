/** How a rebuild of a source's table goes, or how it ended. It is stored, so that any process can say it. */
import * as Shape from "../json/Shape.ts"

/** What a rebuild does, in this order. */
export const REBUILD_STEPS = ["plan", "rows", "indexes", "changes", "swap"] as const

/** How far a rebuild is. */
export interface RebuildProgress {
  readonly step: (typeof REBUILD_STEPS)[number]
  readonly done: number
  readonly rows: number
}

/** The result of a rebuild. */
export interface RebuildResult {
  readonly table: string
  readonly rows: number
  readonly columns: ReadonlyArray<string>
  /** How long the table was locked at the end, in milliseconds. */
  readonly lockedMillis: number
  /** Indexes that could not be built afterwards, each with the reason. */
  readonly indexesMissing: ReadonlyArray<string>
}

/** The result's JSON and its description. */
export const rebuildResultShape = Shape.named(
  "RebuildResult",
  Shape.object<RebuildResult>("A rebuilt table.", {
    table: Shape.text("The table."),
    rows: Shape.whole("How many rows it has."),
    columns: Shape.list(Shape.text(), "Its field columns, in their order."),
    lockedMillis: Shape.whole("How long the table was locked at the end, in milliseconds."),
    indexesMissing: Shape.list(
      Shape.text(),
      "Indexes that are still to be built, or could not be built afterwards, each with the reason.",
    ),
  }),
)

/** The latest rebuild of a table. Times are RFC 3339 in UTC. */
export interface RebuildState extends RebuildProgress {
  readonly sourceId: number
  readonly state: "running" | "done" | "failed" | "cancelled"
  /** Why it failed or was cancelled; else null. */
  readonly code: string | null
  readonly message: string | null
  /** Null unless it is done. */
  readonly result: RebuildResult | null
  readonly startedAt: string
  readonly finishedAt: string | null
}

/** The state's JSON and its description. */
export const rebuildStateShape = Shape.named(
  "Rebuild",
  Shape.object<RebuildState>("The latest rebuild of a source's table.", {
    sourceId: Shape.id("The source's id."),
    state: Shape.oneOf(["running", "done", "failed", "cancelled"]),
    step: Shape.oneOf(
      REBUILD_STEPS,
      "What it does, or did last: `plan` looks at the table, `rows` copies, `indexes` builds them, `changes` follows what has changed meanwhile, `swap` waits for the table.",
    ),
    done: Shape.whole("How many rows are copied."),
    rows: Shape.whole("How many there are; 0 until they are counted."),
    code: Shape.orNull(Shape.text("The code of the error that ended it; else null.")),
    message: Shape.orNull(Shape.text("Why it ended, in words; null unless it failed or was cancelled.")),
    result: Shape.eitherOrNull(rebuildResultShape, "The new table; null unless it is done."),
    startedAt: Shape.time("When it began."),
    finishedAt: Shape.orNull(Shape.time("When it ended; otherwise null.")),
  }),
)

/** Whether a running rebuild was ended. */
export const rebuildCancelledShape = Shape.named(
  "RebuildCancelled",
  Shape.object<{ readonly sourceId: number; readonly cancelled: boolean }>("Whether a running rebuild was ended.", {
    sourceId: Shape.id("The source's id."),
    cancelled: Shape.flag("False if none was running."),
  }),
)
