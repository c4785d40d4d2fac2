/** Explains in words why a rebuild did not complete. */
import { RebuildError } from "./RebuildError.ts"
import type { NotRebuilt } from "./RebuildStore.ts"

/** Explains why the store did not complete a rebuild. */
export const notRebuilt = (sourceId: number, { fact }: NotRebuilt): RebuildError => {
  const error = (code: RebuildError["code"], message: string) => new RebuildError({ code, message })
  const unchanged = "The old table is as it was."
  switch (fact.is) {
    case "running":
      return error(
        "rebuild_running",
        `The table of source ${sourceId} is being rebuilt already${fact.holder === null ? "" : `, by ${fact.holder}`}.`,
      )
    case "cancelled":
      return error("rebuild_ended", `The rebuild was cancelled. ${unchanged}`)
    case "stopped":
      return error(
        "rebuild_ended",
        `The process that rebuilt the table was stopped. ${unchanged} Start the rebuild again.`,
      )
    case "lost":
      return error(
        "rebuild_ended",
        `The process that rebuilt the table was lost. ${unchanged} Start the rebuild again.`,
      )
    case "fault":
      return error("rebuild_ended", `The rebuild failed, and the log says why. ${unchanged}`)
    case "dropped":
      return error("rebuild_ended", `The table was dropped while it was rebuilt.`)
    case "emptied":
      return error("rebuild_ended", `The table was emptied while it was rebuilt. ${unchanged} Start the rebuild again.`)
    case "changed":
      return error(
        "rebuild_ended",
        `The table's columns were changed while it was rebuilt. ${unchanged} Start the rebuild again.`,
      )
    case "without_event":
      return error(
        "rows_without_event",
        `The row ${fact.eventId} has no event, so it cannot be moved to the new columns. ${unchanged}`,
      )
    case "refused":
      return error("row_refused", `The database refuses a row of the new table: ${fact.detail}. ${unchanged}`)
    case "view_failed":
      return error(
        "view_failed",
        `A view does not work with the new table: ${fact.detail}. ${unchanged} Drop the view first, and create it again afterwards.`,
      )
    case "depended_on":
      return error("objects_depend", `Other objects depend on the table: ${fact.detail}. ${unchanged}`)
    case "busy":
      return error(
        "table_busy",
        `The table is in use and could not be locked within ${fact.seconds} seconds. ${unchanged} Try again at a quieter moment.`,
      )
  }
}
