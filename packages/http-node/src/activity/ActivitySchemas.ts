/** The schemas of the management API's responses: the cabinet's activity. */
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { flag, id, object, orNull, time, whole, wholeOrNull } from "../openapi/SchemaForms.ts"

const activityStep = {
  at: time("Its begin."),
  events: whole("All events received in it."),
  repeats: whole("Those of them that repeat others."),
  empty: whole("Those of them without a filled field."),
  history: whole("Those of them that come from files and first polls."),
}

const deliveryFigures = {
  delivered: whole("Attempts that were delivered."),
  failed: whole("Attempts that failed; a delivery may have many."),
  p50_millis: wholeOrNull("Within how many milliseconds half of the delivered attempts were over; null without any."),
  p95_millis: wholeOrNull("The same of 95 in 100."),
}

export const ACTIVITY_SCHEMAS = {
  ActivityStep: object(activityStep, "An hour or a day."),
  Overview: object(
    {
      hours: {
        type: "array",
        items: object(activityStep, "An hour."),
        description: "The last 48 hours, oldest first.",
      },
      sources: {
        type: "array",
        items: object(
          {
            source_id: id("The source's id.", 1),
            last_at: orNull(time("When its last event was received; null without one.")),
            last_event_id: orNull(id("Its last event.", 10417)),
            days: {
              type: "array",
              items: { type: "integer", minimum: 0 },
              description: "Events of the last 7 days, today last.",
            },
            silence: {
              ...object(
                {
                  since: time("When the last event came that is not history."),
                  seconds: { type: "number", description: "For how long none came." },
                  active_days: whole("On how many days of the four weeks before some came."),
                  usual_seconds: {
                    type: ["number", "null"],
                    description: "The third longest silence of those weeks; null if there are not three.",
                  },
                },
                "Null while it is shorter than two hours, and for a source that is switched off.",
              ),
              type: ["object", "null"],
            },
            quiet: flag("Whether it usually receives, and is silent for longer than usual."),
          },
          "A source.",
        ),
        description: "All sources.",
      },
      delivery_hours: {
        type: "array",
        items: object({ at: time("Its begin."), ...deliveryFigures }, "An hour with attempts."),
        description: "The last 24 hours, oldest first.",
      },
      deliveries: object(deliveryFigures, "The last 24 hours as a whole."),
      waiting: {
        type: "array",
        items: object(
          {
            address_id: id("The address's id.", 1),
            waiting: whole("How many deliveries wait for it, counted to 1,000."),
            oldest: orNull(time("When the oldest of them was created.")),
          },
          "A failing address.",
        ),
        description: "Addresses that fail and are not paused.",
      },
      counted_until: orNull(time("Events since then are still being counted; null: all are counted.")),
    },
    "The cabinet's activity.",
  ),
} satisfies Record<string, JsonSchema>
