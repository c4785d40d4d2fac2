/** The schemas of the management API's responses: sources and their columns. */
import { COLUMN_KINDS } from "@data-cabinet/core/row/FieldColumn"
import { SOURCE_ENCODINGS } from "@data-cabinet/core/source/Source"
import { CHALLENGE_PROVIDERS } from "@data-cabinet/core/verification/Challenge"
import { HMAC_ALGORITHMS, SIGNATURE_ENCODINGS } from "@data-cabinet/core/verification/Recipe"
import { RECIPE_NAMES } from "@data-cabinet/core/verification/Recipes"
import { VERIFICATION_MODES } from "@data-cabinet/core/verification/Verification"
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { SCHEMAS } from "../openapi/Schemas.ts"
import { flag, id, object, orNull, text, textOrNull, texts, time, whole, wholeOrNull } from "../openapi/SchemaForms.ts"

const sourceFields = {
  ...((SCHEMAS.Source as JsonSchema)["properties"] as { readonly [name: string]: JsonSchema }),
  encoding: {
    enum: [...SOURCE_ENCODINGS, null],
    description: "The charset of its forms; null: detected for each submission.",
  },
  thanks_url: textOrNull("Where a browser is redirected after a plain form; null: the built-in page."),
  keep_headers: texts("The headers that original requests keep besides those that all keep."),
  header_fields: texts("Headers that also become fields of the events."),
  keep_query: flag("Whether original requests keep the query string as sent."),
  nest_brackets: flag("Whether the fields of forms are nested by the brackets in their names."),
  honeypot: textOrNull("A field of its form that people leave empty: filled, the event is spam; null: none."),
  allow_origins: texts("The origins of the pages with its form; empty: any."),
  verify: orNull(
    object(
      {
        recipe: { enum: RECIPE_NAMES, description: "How the sender signs." },
        mode: { enum: [...VERIFICATION_MODES], description: "What happens to a request that is not the sender's." },
        hmac: orNull(
          object(
            {
              header: textOrNull("The header of the signature; null: it is in a field."),
              algorithm: { enum: HMAC_ALGORITHMS, description: "The hash function." },
              encoding: { enum: SIGNATURE_ENCODINGS, description: "How the signature is written." },
              prefix: text("The beginning of the signature."),
              timestamp_header: textOrNull("The header with the signed time; null: no header has it."),
              tolerance_seconds: whole("How far the timestamp may be from now."),
            },
            "How the sender signs, for the recipe `hmac`; else null.",
            {
              field: text("The field of the body with the signature."),
              value: text("How the header of the signature is written."),
              signed: text("What is signed."),
              timestamp_field: text("The field of the body with the signed time."),
              id_header: text("The header with the signed number of the message."),
            },
          ),
        ),
        keeps_old_secret: flag("Whether the previous secret also counts."),
      },
      "How the sender is verified; null: anyone who has the intake address may send.",
      {
        header: text("The header of the token, for the recipe `token`."),
        query: text("The parameter of the query that carries the token, for the recipe `token`."),
        field: text("The field of the body that carries the token, for the recipe `token`."),
      },
    ),
  ),
  challenge: orNull(
    object(
      { provider: { enum: [...CHALLENGE_PROVIDERS], description: "Who asks." } },
      "The provider whose question about the address is answered; null: none but those of the recipe.",
    ),
  ),
  rate: wholeOrNull("How many requests a minute it takes from all clients together; null: the common limits."),
  old_secret_until: orNull(
    time("Until when the intake address before the last rotation is still accepted; null: it is not."),
  ),
  limited: orNull(
    object(
      { count: whole("How many."), since: time("The first of them."), last_at: time("The last of them.") },
      "Requests to it that were refused with 429 lately; null if there were none within a day.",
    ),
  ),
}

const column = object(
  {
    name: text("The name in the database."),
    field: text("The field whose values it takes."),
    label: text("The label shown on screen."),
    type: { enum: COLUMN_KINDS },
    event_id: orNull(id("The event that created the column.", 1)),
    created_at: time("When it was created."),
  },
  "A column of a source's table.",
)

export const SOURCE_SCHEMAS = {
  OwnSource: object(sourceFields, "A source with its settings."),
  SourceWithAddress: object(
    {
      ...sourceFields,
      intake_url: text("The intake address. Anyone who has it may send."),
      intake_path: text("Its path."),
      rows_url: textOrNull("Where its rows are read."),
      base_url_known: flag("False if the address's host is a guess."),
    },
    "A source with its intake address.",
  ),
  SourceColumn: column,
  RetypeResult: object(
    {
      ...(column["properties"] as { readonly [name: string]: JsonSchema }),
      moved: whole("How many values the new type could not hold; they moved to `sibling`."),
      sibling: textOrNull("The column they moved to."),
      views: { type: "array", items: { type: "string" }, description: "The views that were recreated." },
    },
    "A column after its change.",
  ),
  RetypeTrial: object(
    {
      misfits: {
        type: ["integer", "null"],
        description: "How many values would move; null if they are too many to count in time.",
      },
      examples: {
        type: "array",
        items: object(
          { event_id: whole("The event of the row."), value: text("The value, cut after 200 characters.") },
          "A value that would move.",
        ),
        description: "The first of them, at most 20.",
      },
      sibling: textOrNull("The column that they would move to."),
      views: { type: "array", items: { type: "string" }, description: "The views that would be recreated." },
    },
    "What a change of a column's type would do.",
  ),
} satisfies Record<string, JsonSchema>
