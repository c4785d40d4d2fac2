/** The schemas of the management API's responses: notices. */
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { flag, id, object, orNull, text, time } from "../openapi/SchemaForms.ts"

export const NOTICE_SCHEMAS = {
  NoticeState: object(
    {
      on: flag("Whether notices are on."),
      since: orNull(time("When they were switched on last; null if they never were, or their source was deleted.")),
      source: {
        ...object(
          {
            id: id("The source's id.", 5),
            name: text("The source's name."),
            table: {
              ...object({ schema: text("The schema."), name: text("The table.") }, "Its table."),
              type: ["object", "null"],
            },
          },
          "The source whose events they are; null as above.",
        ),
        type: ["object", "null"],
      },
      addresses: {
        type: "array",
        items: id("An address's id.", 2),
        description: "The addresses that are subscribed to the source by name: none of them has notices of its own.",
      },
      latest: {
        type: "array",
        items: object(
          {
            event_id: id("Its event.", 10417),
            at: time("When it was sent."),
            kind: text("What happened, such as `address.failing`."),
            subject: text("What it happened to, such as `address 7`."),
            message: text("A sentence for people, in English."),
          },
          "A notice.",
        ),
        description: "The newest 20, newest first.",
      },
    },
    "Notices.",
  ),
} satisfies Record<string, JsonSchema>
