/** Rebuilds of the tables of sources, with promises. */
import type { RebuildProgress, RebuildResult, RebuildState } from "@data-cabinet/core/row/RebuildState"
import type { RebuildPreview, RebuildWishes, WishedColumn } from "@data-cabinet/core/row/RebuildStore"
import { TableRebuild } from "@data-cabinet/core/row/TableRebuild"
import { Effect } from "effect"
import type { Run } from "./RunEffect.ts"

export type { RebuildPreview, RebuildProgress, RebuildResult, RebuildState, WishedColumn }

/** What the new table is to be like; by default like the old one. */
export type RebuildOptions = Partial<RebuildWishes>

/** Rebuilds: a source's table is written again from its events, beside the old one, and takes its place. */
export interface RebuildsApi {
  /** What a rebuild would do, and what stands in its way. Reads the table once and changes nothing. */
  readonly preview: (sourceId: number, options?: RebuildOptions) => Promise<RebuildPreview>
  /**
   * Rebuilds the table, and resolves when the new one is in its place. Refused, cancelled or interrupted, it changes nothing.
   * Rejects with `rebuild_running` while another process rebuilds it, with `rebuild_ended` if it was cancelled or the table
   * was changed meanwhile, and with `objects_depend` if something depends on the table that would be lost.
   */
  readonly run: (
    sourceId: number,
    options?: RebuildOptions & {
      /** Called with the progress. If it throws, the rebuild ends. */
      readonly onProgress?: ((progress: RebuildProgress) => void) | undefined
    },
  ) => Promise<RebuildResult>
  /**
   * Begins a rebuild that continues until this cabinet is closed, and resolves after a few seconds at most. Rejects like
   * `run` with what is refused by then; `get` says how it goes on.
   */
  readonly start: (sourceId: number, options?: RebuildOptions) => Promise<RebuildState>
  /** The latest rebuild, whichever process runs it. Rejects with `no_rebuild` for a table that was never rebuilt. */
  readonly get: (sourceId: number) => Promise<RebuildState>
  /** Ends the running rebuild, in any process. Resolves to false if none was running. */
  readonly cancel: (sourceId: number) => Promise<boolean>
}

const wishesOf = ({ columns = [], withoutEmpty = false, nestBrackets = false }: RebuildOptions): RebuildWishes => ({
  columns,
  withoutEmpty,
  nestBrackets,
})

/** Builds the methods of `cabinet.rebuilds`. */
export const rebuildsApi = (run: Run): RebuildsApi => ({
  preview: (sourceId, options = {}) => run(TableRebuild.use((all) => all.plan(sourceId, wishesOf(options)))),
  run: (sourceId, { onProgress, ...options } = {}) => {
    const tell = onProgress === undefined ? undefined : (at: RebuildProgress) => Effect.sync(() => onProgress(at))
    return run(TableRebuild.use((all) => all.run(sourceId, wishesOf(options), tell)))
  },
  start: (sourceId, options = {}) => run(TableRebuild.use((all) => all.start(sourceId, wishesOf(options)))),
  get: (sourceId) => run(TableRebuild.use((all) => all.state(sourceId))),
  cancel: (sourceId) => run(TableRebuild.use((all) => all.cancel(sourceId))),
})
