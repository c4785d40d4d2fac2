/** The schemas of the read API, as the OpenAPI document's components. Endpoints refer to them with `ref`. */
import { PING_SCHEMA, receivedSchema } from "@data-cabinet/core/delivery/DeliveryShape"
import { ERROR_TYPES } from "@data-cabinet/core/error/ErrorCode"
import { eventShape } from "@data-cabinet/core/payload/EventShape"
import { INTAKE_ERROR_CODES } from "@data-cabinet/core/intake/IntakeError"
import { ackReceiptShape } from "@data-cabinet/core/follower/ClientFollowers"
import * as Shape from "@data-cabinet/core/json/Shape"
import { columnShape, tableDetailShape, tableShape } from "@data-cabinet/core/row/Table"
import { sourceShape } from "@data-cabinet/core/source/SourceShape"
import { SOURCE_EXAMPLE } from "./Examples.ts"

/** The members of every page around its items. `more`: further members of the page. */
export const page = (
  item: Shape.JsonSchema,
  nextCursor: Shape.JsonSchema,
  more: { readonly [name: string]: Shape.JsonSchema } = {},
): Shape.JsonSchema =>
  Shape.describedOnly("A list.", {
    data: Shape.leaf({ type: "array", items: item }),
    has_more: Shape.flag("Whether more can be read immediately with `next_cursor`."),
    next_cursor: Shape.leaf(nextCursor),
    ...Object.fromEntries(Object.entries(more).map(([name, schema]) => [name, Shape.leaf(schema)])),
  }).schema

export const ref = (name: keyof typeof SCHEMAS): Shape.JsonSchema => ({ $ref: `#/components/schemas/${name}` })

type Described = { readonly [name: string]: Shape.Shape<never> }

const object = (about: string, members: Described): Shape.JsonSchema => Shape.describedOnly(about, members).schema

const NOT_PAGINATED = { type: "null", description: "Always null: the list is not paginated." }

export const SCHEMAS = {
  Source: { ...sourceShape.schema, examples: [SOURCE_EXAMPLE] },
  ...tableDetailShape.components,
  ...tableShape.components,
  Row: {
    type: "object",
    additionalProperties: true,
    description:
      "A row by column names. Numbers are JSON numbers with every digit that the database holds, dates `YYYY-MM-DD`, times with a zone RFC 3339 in UTC, times without `YYYY-MM-DDThh:mm:ss`, jsonb its structure.",
  },
  Event: eventShape.schema,
  Error: object("The one shape of every error.", {
    error: Shape.describedOnly("What is wrong.", {
      type: Shape.oneOf([...new Set(Object.values(ERROR_TYPES))], "The kind of error."),
      code: Shape.oneOf(Object.keys(ERROR_TYPES), "The machine code."),
      message: Shape.text("What was expected, in words."),
      param: Shape.orNull(Shape.text("The offending parameter, if there is one.")),
    }),
  }),
  SourceList: page({ $ref: "#/components/schemas/Source" }, NOT_PAGINATED),
  TableList: page(tableShape.schema, NOT_PAGINATED),
  RowPage: page(
    { $ref: "#/components/schemas/Row" },
    {
      type: ["string", "null"],
      description: "Pass it as `cursor`, unchanged, to get the next page; null on the last page.",
    },
    { columns: Shape.list(columnShape, "The columns of the rows, in their order.").schema },
  ),
  EventPage: page(
    { $ref: "#/components/schemas/Event" },
    { type: "string", description: "Where to continue from, now or later. Never null: store it and continue from it." },
  ),
  ...ackReceiptShape.components,
  EventReceived: receivedSchema({ $ref: "#/components/schemas/Event" }),
  Ping: PING_SCHEMA,
  IntakeReceipt: object("One accepted event.", {
    ok: Shape.leaf({ const: true }),
    id: Shape.id("The event's number.", 10417),
    duplicate: Shape.flag("The same body came to this source within the last 5 minutes."),
    empty: Shape.flag("No field was filled."),
  }),
  IntakeBatchReceipt: object("The accepted events of a batch, in its order.", {
    ok: Shape.leaf({ const: true }),
    count: Shape.leaf({ type: "integer", minimum: 1, maximum: 100 }),
    results: Shape.list(
      Shape.describedOnly("One event of the batch.", {
        id: Shape.id("The event's number.", 10417),
        duplicate: Shape.leaf({ type: "boolean" }),
        empty: Shape.leaf({ type: "boolean" }),
      }),
    ),
  }),
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
      id: Shape.id("The event that keeps a body that is not an object.", 10417).schema,
      empty: { const: true, description: "With `id`: that event is saved as empty and is not delivered." },
      limit: { type: "integer" },
      count: { type: "integer" },
      retry_after: { type: "integer" },
    },
  },
} satisfies Record<string, Shape.JsonSchema>
