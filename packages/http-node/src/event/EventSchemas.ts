/** The schemas of the management API's responses: events and their original requests. */
import { SPAM_REASONS } from "@data-cabinet/core/event/EventLog"
import { READING_PLACES } from "@data-cabinet/core/intake/OtherReadings"
import { RECIPE_NAMES } from "@data-cabinet/core/verification/Recipes"
import { REFUSAL_REASONS } from "@data-cabinet/core/verification/VerifySender"
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { EVENT_FIELDS, EVENT_OPTIONAL_FIELDS } from "../openapi/Schemas.ts"
import { flag, id, object, orNull, text, textOrNull, time, whole } from "../openapi/SchemaForms.ts"
import { actorShape } from "@data-cabinet/core/audit/Actor"

const OTHER_READINGS = {
  type: "array",
  items: object(
    {
      name: text("The charset."),
      decided_by: text("How it was determined."),
      place: { enum: READING_PLACES, description: "Where the values stand: body, query or the names of files." },
      fields: { type: "array", items: { type: "string" }, description: "The fields' names: the first few of many." },
      more: whole("How many values there are besides."),
    },
    "Values in one charset.",
  ),
  description: "The values that were read in a charset other than `name`.",
} satisfies JsonSchema

export const EVENT_SCHEMAS = {
  OriginalRequest: object(
    {
      received_at: time("When it was received."),
      body: textOrNull("The first 65,536 bytes as text, if they are text in the charset."),
      body_base64: textOrNull("The same as bytes, if they are not UTF-8."),
      body_bytes: whole("The size of the whole body."),
      truncated: flag("Whether it was larger than the kept part."),
      content_type: textOrNull("As sent."),
      ip: textOrNull("The sender's address."),
      headers: object(
        {
          referer: textOrNull("As sent."),
          origin: textOrNull("As sent."),
          user_agent: textOrNull("As sent."),
          accept_language: textOrNull("As sent."),
        },
        "The headers that every source keeps.",
      ),
      kept_headers: {
        type: "array",
        items: object({ name: text("In lower case."), value: text("As sent.") }, "A header."),
        description: "The headers that the source's settings keep.",
      },
      query: textOrNull("The query string as sent, if the source keeps it."),
      verification: orNull(
        object(
          {
            recipe: { enum: RECIPE_NAMES, description: "How the sender was to have signed." },
            verified: flag("Whether it is the sender's."),
            reason: { enum: [...REFUSAL_REASONS, null], description: "Why it is not; null if it is." },
          },
          "What came of its verification; null if the source had no recipe.",
        ),
      ),
      late_verification: orNull(
        object(
          {
            recipe: { enum: RECIPE_NAMES, description: "What its sender was verified by afterwards." },
            verified: flag("Whether it is the sender's."),
            reason: { enum: [...REFUSAL_REASONS, null], description: "Why it is not; null if it is." },
            at: time("When it was checked last."),
            delivered_at: orNull(time("When its events were delivered because of that.")),
          },
          "What came of its verification afterwards; null if there was none.",
        ),
      ),
      encoding: object(
        {
          name: text("The charset that it was decoded with."),
          decided_by: text("How the charset was determined."),
          replaced: whole("Characters that could not be decoded."),
          others: OTHER_READINGS,
        },
        "How it was read.",
      ),
    },
    "A request as it was received.",
  ),
  ListedEvent: object(
    {
      ...EVENT_FIELDS,
      state: { enum: ["row", "repeat", "spam", "trashed", "purged"], description: "What became of it." },
      empty: flag("Whether no field is filled."),
      row_waits: flag("Whether its row follows: the table is locked, or refuses it so far."),
      trashed_by: {
        oneOf: [actorShape("The actor that moved it to the trash.").schema, { type: "null" }],
        description: "Null if it is not there, or if that is not known.",
      },
      deliveries: object(
        {
          due: whole("To be sent, now or later."),
          delivered: whole("Delivered."),
          failed: whole("Given up."),
          cancelled: whole("Cancelled."),
        },
        "How many deliveries it has in which state.",
      ),
    },
    "An event as the feed has it, with what became of it.",
    EVENT_OPTIONAL_FIELDS,
  ),
  EventWithContext: object(
    {
      event: { $ref: "#/components/schemas/Event" },
      original: { oneOf: [{ $ref: "#/components/schemas/OriginalRequest" }, { type: "null" }] },
      row: { oneOf: [{ $ref: "#/components/schemas/Row" }, { type: "null" }] },
      row_waits: flag("Whether its row is deferred because the table is locked."),
      row_set_aside: textOrNull(
        "Why its row is not in the table, or not with all fields, in words; it is retried. Null if it is not set aside.",
      ),
      spam: { enum: [...SPAM_REASONS, null], description: "Why it is spam; null if it is not." },
      deliveries: { type: "array", items: { $ref: "#/components/schemas/DeliveryState" } },
    },
    "An event with everything stored for it.",
  ),
  TestEvent: object(
    {
      id: id("The event's number.", 10417),
      duplicate: flag("Whether it repeats another."),
      empty: flag("Whether no field is filled."),
    },
    "An accepted event.",
  ),
  FeedStart: object({ cursor: text("The cursor, for the requested source and channel.") }, "A place in the feed."),
  Erasure: object(
    {
      events: whole("Events other than repeats."),
      repeats: whole("Repeats of these."),
      rows: whole("Of the events: those that had a row, or would."),
      originals: whole("Of events and repeats: those whose original request was still kept."),
      deliveries: whole("Deliveries that waited to be sent, and are cancelled."),
      next_after: { type: ["integer", "null"], description: "Where the next stretch begins; null after the last one." },
    },
    "What a stretch of an erasure takes.",
  ),
} satisfies Record<string, JsonSchema>
