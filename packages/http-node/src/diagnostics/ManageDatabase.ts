/** The database over the management API: which schemas readers see, its state, and the events that have moved out of it. */
import { ColdOverview, coldStatusShape } from "@data-cabinet/core/cold/ColdOverview"
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import { findingsOf } from "@data-cabinet/core/diagnostics/Findings"
import { Diagnostics } from "@data-cabinet/core/diagnostics/Diagnostics"
import * as Shape from "@data-cabinet/core/json/Shape"
import { snakeKeys } from "@data-cabinet/core/json/KeyCase"
import { SchemaGrants } from "@data-cabinet/core/row/SchemaGrants"
import { Effect } from "effect"
import { countShape, list, one, whole } from "../manage/ManageResponses.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { nameSegment } from "../manage/ManageParameters.ts"
import { type Finding, findingShape } from "@data-cabinet/core/diagnostics/Doctor"

const segments = [nameSegment("schema", "The schema's name.", "shop")] as const

const authorSchemaShape = Shape.named(
  "AuthorSchema",
  Shape.object<{ readonly name: string; readonly author: string }>(
    "A schema of the database, for the author's tables and views.",
    {
      name: Shape.text("Its name."),
      author: Shape.text("The role that owns it, as which `cabinet sql` runs."),
    },
  ),
)

const readableSchemaShape = Shape.named(
  "ReadableSchema",
  Shape.object<{ readonly name: string }>("A schema of the database that readers see.", {
    name: Shape.text("Its name."),
  }),
)

interface ShownDiagnostics {
  readonly findings: ReadonlyArray<Finding>
  readonly database: object
  readonly deliveries: object
}

const diagnosticsShape = Shape.named(
  "Diagnostics",
  Shape.object<ShownDiagnostics>("The state of the database and of the deliveries.", {
    findings: Shape.list(findingShape, "The finding, in words."),
    database: Shape.open("What `cabinet doctor` measures."),
    deliveries: Shape.open("The state of the delivery queue."),
  }),
)

export const manageDatabase = Effect.gen(function* () {
  const grants = yield* SchemaGrants
  const diagnostics = yield* Diagnostics
  const queue = yield* DeliveryQueue
  const cold = yield* ColdOverview
  const common = {
    tag: "Database",
    segments,
    response: one(countShape, "How many tables and views of the schema can be read now."),
    errors: ["no_such_schema", "not_for_readers", "no_right", "no_reader"],
    params: { no_such_schema: "schema", not_for_readers: "schema", no_right: "schema" },
  } as const
  return [
    manageEndpoint({
      id: "listSchemas",
      tag: "Database",
      method: "GET",
      path: "/manage/v1/schemas",
      summary: "The exposed schemas",
      description: "By name, without the cabinet's own and those that everybody may use. The list is not paginated.",
      action: "diagnostics.read",
      response: list(readableSchemaShape, "The schemas."),
      respond: () => Effect.map(grants.list, (all) => whole(all.map((name) => readableSchemaShape.json({ name })))),
    }),
    manageEndpoint({
      ...common,
      id: "exposeSchema",
      method: "POST",
      path: "/manage/v1/schemas/{schema}/expose",
      summary: "Expose a schema to readers",
      description: "Its objects, and those that its owner creates later.",
      action: "schema.change",
      respond: ({ path: [schema] }) => Effect.map(grants.expose(schema), ({ objects }) => ({ count: objects })),
    }),
    manageEndpoint({
      ...common,
      id: "hideSchema",
      method: "POST",
      path: "/manage/v1/schemas/{schema}/hide",
      summary: "Hide a schema from readers",
      description: "Nothing in it can be read any more.",
      action: "schema.change",
      respond: ({ path: [schema] }) => Effect.map(grants.hide(schema), ({ objects }) => ({ count: objects })),
    }),
    manageEndpoint({
      ...common,
      id: "addSchema",
      method: "POST",
      path: "/manage/v1/schemas/{schema}",
      summary: "Create a schema for the author",
      description:
        "It belongs to the author's role, as which `cabinet sql` creates tables and views in it. Readers see them.",
      action: "schema.change",
      response: one(authorSchemaShape, "The schema.", 201),
      errors: ["schema_exists", "not_for_readers", "no_author", "no_right"],
      params: { schema_exists: "schema", not_for_readers: "schema", no_right: "schema" },
      respond: ({ path: [schema] }) =>
        Effect.map(grants.add(schema), ({ author }) => authorSchemaShape.json({ name: schema, author })),
    }),
    manageEndpoint({
      id: "getDiagnostics",
      tag: "Database",
      method: "GET",
      path: "/manage/v1/diagnostics",
      summary: "The state of the database",
      description:
        "The findings of `cabinet doctor`, in words, and its measurements: sizes, connections, sessions that hold the feed back, waiting work.",
      action: "diagnostics.read",
      response: one(diagnosticsShape, "The measurements."),
      respond: () =>
        Effect.zipWith(diagnostics.examine, queue.gauge, (database, deliveries) =>
          diagnosticsShape.json({
            findings: findingsOf({ diagnostics: database, gauge: deliveries }),
            database: snakeKeys(database) as object,
            deliveries: snakeKeys(deliveries) as object,
          }),
        ),
    }),
    manageEndpoint({
      id: "getColdHistory",
      tag: "Database",
      method: "GET",
      path: "/manage/v1/cold",
      summary: "Old events in files",
      description: "The files with their sizes, in the order of the feed, and why the work does not go on.",
      action: "diagnostics.read",
      response: one(coldStatusShape, "The state."),
      respond: () => Effect.map(cold.status, coldStatusShape.json),
    }),
  ]
})
