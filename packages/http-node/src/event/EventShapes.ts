/**
 * The descriptions of events in the management API. Their JSON is written as bytes, so that stored digits stay
 * unchanged.
 */
import { deliveryShape } from "@data-cabinet/core/delivery/Attempt"
import { listedShape } from "@data-cabinet/core/event/EventListStore"
import { SPAM_REASONS } from "@data-cabinet/core/event/EventLog"
import { EVENT_MEMBERS } from "@data-cabinet/core/payload/EventShape"
import { originalShape } from "@data-cabinet/core/event/OriginalShape"
import * as Shape from "@data-cabinet/core/json/Shape"
import { ref } from "../openapi/Schemas.ts"

const LISTED = "An event as the feed has it, with what became of it."

/** An event of the list. */
export const listedEventShape = Shape.named(
  "ListedEvent",
  Shape.describedOnly(LISTED, { ...EVENT_MEMBERS, ...listedShape.members }),
)

/** An event with everything stored for it. */
export const eventWithContextShape = Shape.named(
  "EventWithContext",
  Shape.describedOnly("An event with everything stored for it.", {
    event: Shape.leaf(ref("Event")),
    original: Shape.orNull(originalShape),
    row: Shape.orNull(Shape.leaf(ref("Row"))),
    row_waits: Shape.flag("Whether its row is deferred because the table is locked."),
    row_set_aside: Shape.orNull(
      Shape.text(
        "Why its row is not in the table, or not with all fields, in words; it is retried. Null if it is not set aside.",
      ),
    ),
    spam: Shape.orNull(Shape.oneOf(SPAM_REASONS), "Why it is spam; null if it is not."),
    deliveries: Shape.list(deliveryShape),
  }),
)

/** Where a client begins in the feed. */
export const feedStartShape = Shape.named(
  "FeedStart",
  Shape.object<{ readonly cursor: string }>("A place in the feed.", {
    cursor: Shape.text("The cursor, for the requested source and channel."),
  }),
)
