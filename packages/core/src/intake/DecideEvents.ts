/**
 * Applies settings of the source to the events of a request, after parsing: first its own schema, which marks events, then the filters
 * of addresses, which can read the marks.
 *
 * Both may take long, so they run in pieces, until the deadline of the request.
 */
import { filteredInTime } from "../delivery/FilteredDeliveries.ts"
import type { AcceptRequest } from "../event/EventLog.ts"
import { inTime, type TimeLimit } from "../runtime/WorkInTurns.ts"
import { markedEvents } from "../schema/MarkEvents.ts"
import type { IntakeSource } from "../source/Source.ts"

/** The settings that are applied. */
export type DecidingSettings = Pick<IntakeSource, "schema" | "filtered">

/** Whether a source has such settings: most have neither. */
export const decides = ({ schema, filtered }: DecidingSettings): boolean =>
  schema !== undefined || filtered !== undefined

/** The request with marks and filtered addresses; undefined if the deadline passes first. */
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
