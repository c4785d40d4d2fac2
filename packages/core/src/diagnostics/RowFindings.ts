/** Interprets events without a row, and imports that ended half-way. */
import { counted } from "../text/Counted.ts"
import type { DiagnosticsReport } from "./Diagnostics.ts"
import { type Finding, finding } from "./Doctor.ts"

/** Rows that are deferred or set aside. */
export const ofRows = ({ deferredRows, rowsSetAside: { count, first } }: DiagnosticsReport): ReadonlyArray<Finding> => {
  const waiting =
    deferredRows === 0
      ? []
      : [
          finding(
            "rows",
            "warn",
            `${counted(deferredRows, "row waits", "rows wait")} for a table that is locked or cannot be altered; they are written automatically once it is available and a server or worker runs.`,
          ),
        ]
  if (count === 0) return waiting.length > 0 ? waiting : [finding("rows", "ok", "Every event has its row.")]
  const each = first.map(
    ({ eventId, sourceId, reason, partial }) =>
      `event ${eventId} of source ${sourceId} (${reason}${partial ? "; written without the fields that have no column" : ""})`,
  )
  const advice = [
    ...(first.some(({ refused }) => refused) ? ["The database refuses rows: remove the cause that it names."] : []),
    ...(first.every(({ refused }) => refused) ? [] : ["Report internal errors."]),
  ]
  const message = `${count === 1 ? "The row of 1 event is" : `The rows of ${count} events are`} set aside: ${each.join(", ")}${count > first.length ? ", …" : ""}. The events themselves are complete, in the feed and in deliveries. ${advice.join(" ")} The rows are retried with increasing intervals of up to an hour, and when a server or worker starts; event ${first[0]!.eventId} next at ${first[0]!.retryAt}.`
  return [...waiting, finding("rows", "bad", message)]
}

/** Imports that failed after some of their rows were accepted. */
export const ofImports = ({ failedImports: failed }: DiagnosticsReport): ReadonlyArray<Finding> => {
  if (failed.length === 0) return []
  const each = failed.map(
    ({ id, sourceId, name, staged, accepted, failure }) =>
      `import ${id} of ${name} into source ${sourceId}, after ${accepted} of ${staged} rows (${failure})`,
  )
  const message = `Imports failed while their rows were being accepted: ${each.join(", ")}. Rows already accepted remain events; the others exist only in the file or at the polled URL, which will be polled again.`
  return [finding("imports", "bad", message)]
}
