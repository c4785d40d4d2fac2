/** The schemas of the read API, as the OpenAPI document's components. Endpoints refer to them with `ref`. */
import { ERROR_TYPES } from "@data-cabinet/core/error/ErrorCode"
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import { INTAKE_ERROR_CODES } from "@data-cabinet/core/intake/IntakeError"
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { sourceShape } from "@data-cabinet/core/source/SourceShape"
import { SOURCE_EXAMPLE } from "./Examples.ts"
import { id, object, orNull, page, time } from "./SchemaForms.ts"

export const ref = (name: keyof typeof SCHEMAS): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

const sourceRef = object(
  { id: id("The source's id.", 1), name: { type: "string", description: "The source's name." } },
  "The source that received it.",
)

const tableFields = {
  schema: {
    type: "string",
    description: "`sources` for the tables of sources; `public` or another schema for the customer's own objects.",
    examples: ["sources"],
  },
  name: { type: "string", examples: ["orders"] },
  kind: { enum: ["table", "view", "matview"], description: "`matview` is a materialized view." },
  source: {
    oneOf: [sourceRef, { type: "null" }],
    description: "The source that owns the table; null for the customer's own objects.",
  },
  comment: { type: ["string", "null"], description: "The object's description." },
  rows_estimate: {
    type: ["integer", "null"],
    minimum: 0,
    description: "The database's estimate of the number of rows; null for a view.",
  },
} satisfies Record<string, JsonSchema>

export const EVENT_FIELDS = {
  id: id("The event's number: `_event_id` of its row, and the id in the intake response.", 10417),
  source: sourceRef,
  channel: {
    enum: CHANNELS,
    description: "`webhook`: the intake address; `file`: a file upload; `pull`: the polling of a URL.",
  },
  received_at: time("When the event was accepted."),
  payload: {
    type: "object",
    additionalProperties: true,
    description:
      "The fields as sent, to the last digit. What did not parse as an object is under `_raw`, `_value` and `_parse_error`.",
  },
  repeat_of: orNull(id("The first event with the same body if this one repeats it; otherwise null.", 10411)),
  history: {
    type: "boolean",
    description: "True for events that come from history: a file upload, the first run of polling.",
  },
  deleted_at: orNull(time("When the event's row was moved to the trash; otherwise null.")),
} satisfies Record<string, JsonSchema>

export const EVENT_OPTIONAL_FIELDS = {
  verified: {
    type: "boolean",
    description:
      "Whether the request came from the source's sender. Absent where the source has no recipe, and of what came otherwise than to its intake address.",
  },
  spam: {
    type: "boolean",
    description:
      "Always true: it is spam by the rules of its source, so that it has no row and is not delivered. Absent otherwise.",
  },
} satisfies Record<string, JsonSchema>

const delivery = (type: string, more: { readonly [name: string]: JsonSchema }, description: string): JsonSchema =>
  object(
    {
      id: id("The delivery's number. The same number may arrive more than once.", 731),
      type: { const: type },
      created_at: time("When the delivery was created."),
      ...more,
    },
    description,
  )

export const SCHEMAS = {
  Source: { ...sourceShape.schema, examples: [SOURCE_EXAMPLE] },
  Table: object(tableFields, "A table or view that can be read."),
  TableDetail: object(
    {
      ...tableFields,
      columns: { type: "array", items: { $ref: "#/components/schemas/Column" } },
      key: {
        type: "array",
        items: { type: "string" },
        description: "The column names of the primary key; empty without one.",
      },
      definition: { type: ["string", "null"], description: "The query of a view; null for a table." },
    },
    "A table or view with its columns.",
  ),
  Column: object(
    {
      name: { type: "string", description: "The name in the database: used in selections and as the key in rows." },
      type: { type: "string", description: "The database's type.", examples: ["timestamp with time zone"] },
      label: { type: "string", description: "The label shown on screen; in a source's table the field's own name." },
      comment: { type: ["string", "null"] },
    },
    "A column.",
  ),
  Row: {
    type: "object",
    additionalProperties: true,
    description:
      "A row by column names. Numbers are JSON numbers with every digit that the database holds, dates `YYYY-MM-DD`, times with a zone RFC 3339 in UTC, times without `YYYY-MM-DDThh:mm:ss`, jsonb its structure.",
  },
  Event: object(EVENT_FIELDS, "An event, as in the feed and in deliveries.", EVENT_OPTIONAL_FIELDS),
  Error: object(
    {
      error: object(
        {
          type: { enum: [...new Set(Object.values(ERROR_TYPES))], description: "The kind of error." },
          code: { enum: Object.keys(ERROR_TYPES), description: "The machine code." },
          message: { type: "string", description: "What was expected, in words." },
          param: { type: ["string", "null"], description: "The offending parameter, if there is one." },
        },
        "What is wrong.",
      ),
    },
    "The one shape of every error.",
  ),
  SourceList: page(
    { $ref: "#/components/schemas/Source" },
    { type: "null", description: "Always null: the list is not paginated." },
  ),
  TableList: page(
    { $ref: "#/components/schemas/Table" },
    { type: "null", description: "Always null: the list is not paginated." },
  ),
  RowPage: page(
    { $ref: "#/components/schemas/Row" },
    {
      type: ["string", "null"],
      description: "Pass it as `cursor`, unchanged, to get the next page; null on the last page.",
    },
    {
      columns: {
        type: "array",
        items: { $ref: "#/components/schemas/Column" },
        description: "The columns of the rows, in their order.",
      },
    },
  ),
  EventPage: page(
    { $ref: "#/components/schemas/Event" },
    { type: "string", description: "Where to continue from, now or later. Never null: store it and continue from it." },
  ),
  EventReceived: delivery(
    "event.received",
    { source: sourceRef, data: { $ref: "#/components/schemas/Event" } },
    "The body of a delivery: a new event.",
  ),
  Ping: delivery("ping", {}, "The body that checks whether a delivery address responds."),
  IntakeReceipt: object(
    {
      ok: { const: true },
      id: id("The event's number.", 10417),
      duplicate: { type: "boolean", description: "The same body came to this source within the last 5 minutes." },
      empty: { type: "boolean", description: "No field was filled." },
    },
    "One accepted event.",
  ),
  IntakeBatchReceipt: object(
    {
      ok: { const: true },
      count: { type: "integer", minimum: 1, maximum: 100 },
      results: {
        type: "array",
        items: object(
          { id: id("The event's number.", 10417), duplicate: { type: "boolean" }, empty: { type: "boolean" } },
          "One event of the batch.",
        ),
      },
    },
    "The accepted events of a batch, in its order.",
  ),
  IntakeError: {
    type: "object",
    description: "Why intake refused a body; `detail` is human-readable.",
    required: ["ok", "error", "detail"],
    properties: {
      ok: { const: false },
      error: {
        enum: [
          ...INTAKE_ERROR_CODES,
          "bad_json",
          "not_an_object",
          "bad_encoding",
          "bad_request",
          "method_not_allowed",
          "unavailable",
          "internal_error",
        ],
        description: "The machine code.",
      },
      detail: { type: "string" },
      id: id("The event that keeps a body that is not an object.", 10417),
      empty: { const: true, description: "With `id`: that event is saved as empty and is not delivered." },
      limit: { type: "integer" },
      count: { type: "integer" },
      retry_after: { type: "integer" },
    },
  },
} satisfies Record<string, JsonSchema>
