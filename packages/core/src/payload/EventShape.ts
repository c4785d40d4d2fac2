/** The description of an event as the feed and deliveries have it. Its JSON is written as bytes, elsewhere. */
import * as Shape from "../json/Shape.ts"
import { sourceRefShape } from "../row/Table.ts"
import { CHANNELS } from "../event/EventLog.ts"

/** The members of an event. */
export const EVENT_MEMBERS: { readonly [name: string]: Shape.Shape<never> } = {
  id: Shape.id("The event's number: `_event_id` of its row, and the id in the intake response.", 10417),
  source: sourceRefShape,
  channel: Shape.oneOf(CHANNELS, "`webhook`: the intake address; `file`: a file upload; `pull`: the polling of a URL."),
  received_at: Shape.time("When the event was accepted."),
  payload: Shape.open(
    "The fields as sent, to the last digit. What did not parse as an object is under `_raw`, `_value` and `_parse_error`.",
  ),
  repeat_of: Shape.orNull(
    Shape.id("The first event with the same body if this one repeats it; otherwise null.", 10411),
  ),
  history: Shape.flag("True for events that come from history: a file upload, the first run of polling."),
  deleted_at: Shape.orNull(Shape.time("When the event's row was moved to the trash; otherwise null.")),
  verified: Shape.optional(
    Shape.flag(
      "Whether the request came from the source's sender. Absent where the source has no recipe, and of what came otherwise than to its intake address.",
    ),
  ),
  spam: Shape.optional(
    Shape.flag(
      "Always true: it is spam by the rules of its source, so it has no row and is not delivered. Absent otherwise.",
    ),
  ),
}

/** An event. */
export const eventShape = Shape.describedOnly("An event, as in the feed and in deliveries.", EVENT_MEMBERS)
