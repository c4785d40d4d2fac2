/**
 * Decides about the events of a request by settings of its source, after they were parsed: which of them do not follow its own
 * schema, and then which are delivered to addresses with a filter, since filters read the marks of the schema.
 *
 * Both may take long, so they run in pieces, and only until the deadline of the request.
 */
import { filteredInTime } from "../delivery/FilteredDeliveries.ts"
import type { AcceptRequest } from "../event/EventLog.ts"
import { inTime, type TimeLimit } from "../runtime/WorkInTurns.ts"
import { markedEvents } from "../schema/MarkEvents.ts"
import type { IntakeSource } from "../source/Source.ts"

/** The settings that decide. */
export type DecidingSettings = Pick<IntakeSource, "schema" | "filtered">

/** Whether there is anything to decide: most sources have neither. */
export const decides = ({ schema, filtered }: DecidingSettings): boolean =>
  schema !== undefined || filtered !== undefined

/** The request with its decisions; undefined if the deadline passes first. */
export const decideEvents = async (
  request: AcceptRequest,
  { schema, filtered: addresses }: DecidingSettings,
  limit: TimeLimit,
): Promise<AcceptRequest | undefined> => {
  const { events: sent } = request
  const events = schema === undefined ? sent : await inTime(markedEvents(schema, sent), limit)
  if (events === undefined) return undefined
  if (addresses === undefined) return { ...request, events }
  const filtered = await filteredInTime(addresses, events, limit)
  return filtered === undefined ? undefined : { ...request, events, filtered }
}
