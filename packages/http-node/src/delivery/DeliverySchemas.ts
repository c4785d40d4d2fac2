/** The schemas of the management API's responses: delivery addresses, deliveries and attempts. */
import { PAUSE_REASONS } from "@data-cabinet/core/delivery/Address"
import { DELIVERY_STATES } from "@data-cabinet/core/delivery/Attempt"
import { NOT_SENT } from "@data-cabinet/core/delivery/TestFilter"
import { FILTER_CONDITIONS } from "@data-cabinet/core/selection/Selection"
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { flag, id, object, orNull, text, textOrNull, texts, time, whole, wholeOrNull } from "../openapi/SchemaForms.ts"

const subscription = {
  oneOf: [{ const: "all" }, { type: "array", items: { type: "integer", minimum: 1 } }],
  description: "`all`, including later ones, or the ids of sources.",
}

const filterFields = {
  fc: text("The field's name, as its sender writes it."),
  fo: { enum: FILTER_CONDITIONS, description: "The condition." },
  fv: text("The value; empty for `empty` and `notempty`."),
}

const addressFields = {
  id: id("The address's id.", 1),
  url: text("Where deliveries are sent."),
  sources: subscription,
  filters: {
    type: "array",
    items: object(filterFields, "A condition."),
    description: "It is sent only events for which all of them hold.",
  },
  filtered_events: whole("How many events it was not sent because of its filters, but for the last seconds."),
  header_names: texts("The headers that deliveries have besides ours. Their values are secret."),
  client_certificate: orNull(
    object(
      {
        subject: text("Whom it names."),
        issuer: text("Who issued it."),
        fingerprint: text("SHA-256, in upper-case hexadecimal with colons."),
        ends_at: time("Until when it is valid."),
      },
      "With which the service identifies itself to the receiver. Its key is secret.",
    ),
  ),
  rate: wholeOrNull("The most deliveries a second; null: as fast as it takes them."),
  timeout_seconds: wholeOrNull("How long an attempt may take; null: 15 seconds."),
  give_up_after_seconds: wholeOrNull("How long it may fail without a break before it is paused; null: for ever."),
  pause_on_gone: { type: "boolean", description: "Whether a response of 410 pauses it." },
  created_at: time("When it was added."),
  paused_at: orNull(time("Since when nothing is sent; else null.")),
  paused_because: {
    enum: [...PAUSE_REASONS, null],
    description:
      "Why it was paused automatically: it failed for too long, or responded with 410. Null if a person paused it, or it is not paused.",
  },
  failing_since: orNull(time("The first failed attempt since the last delivered one; else null.")),
}

const deliveryFields = {
  id: id("The delivery's id.", 731),
  type: { enum: ["event.received", "ping"] },
  address_id: id("The address's id.", 1),
  event_id: orNull(id("The event; null for a ping.", 10417)),
  state: { enum: DELIVERY_STATES },
  attempts: whole("How many were begun."),
  created_at: time("When it was created."),
  due_at: orNull(time("When it is sent next; null unless it is due.")),
}

const outcome = {
  status: wholeOrNull("The status of the response; null: there was none."),
  failure: textOrNull("Why there was none; else null."),
  peer: textOrNull("The address that was connected to."),
  duration_ms: whole("How long it took."),
  response_body: textOrNull("The beginning of the response."),
}

export const DELIVERY_SCHEMAS = {
  Address: object(addressFields, "A delivery address."),
  AddressWithSecret: object(
    {
      ...addressFields,
      secret: text("The signing secret."),
      previous_secret: {
        oneOf: [
          object(
            { secret: text("It also signs deliveries."), until: time("Until when it also signs.") },
            "The previous secret.",
          ),
          { type: "null" },
        ],
      },
    },
    "A delivery address with its signing secret.",
  ),
  PingResult: object(
    {
      delivery_id: id("The ping's delivery.", 732),
      delivered: flag("Whether the response was a 2xx."),
      ...outcome,
    },
    "The outcome of a ping.",
  ),
  AddressTest: object(
    {
      address_id: id("The address's id.", 1),
      event_id: id("The event's number.", 10417),
      passes: flag("Whether the address would be sent the event."),
      reasons: {
        type: "array",
        items: object({ code: { enum: [...NOT_SENT] }, message: text("The reason in words.") }, "A reason."),
        description: "Why not.",
      },
      conditions: {
        type: "array",
        items: object(
          {
            ...filterFields,
            holds: flag("Whether it holds."),
            value: textOrNull(
              "The event's value of the field, as JSON text, cut after 200 characters; null: no such field.",
            ),
          },
          "A condition.",
        ),
        description: "The filter's conditions.",
      },
      delivery_id: orNull(id("The delivery created for it; null: none.", 731)),
    },
    "Whether an address is sent an event.",
  ),
  Attempt: object(
    {
      delivery_id: id("The delivery's id.", 731),
      type: { enum: ["event.received", "ping"] },
      event_id: orNull(id("The event; null for a ping.", 10417)),
      address_id: id("The address's id.", 1),
      number: whole("From 1."),
      at: time("When it began."),
      delivered: flag("Whether the response was a 2xx."),
      ...outcome,
      next_at: orNull(time("When the next one is due; else null.")),
    },
    "An attempt to deliver.",
  ),
  DeliveryState: object(deliveryFields, "A delivery."),
  DeliveryWithLog: object(
    {
      ...deliveryFields,
      log: {
        type: "array",
        items: { $ref: "#/components/schemas/Attempt" },
        description: "Its attempts, newest first.",
      },
    },
    "A delivery with its attempts.",
  ),
} satisfies Record<string, JsonSchema>
