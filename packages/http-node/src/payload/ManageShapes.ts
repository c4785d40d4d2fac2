/** What the payloads of sources look like, over the management API. */
import { sourceShapeShape } from "@data-cabinet/core/payload/ShapeFields"
import { Shapes } from "@data-cabinet/core/payload/Shapes"
import * as Shape from "@data-cabinet/core/json/Shape"
import { Effect } from "effect"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { idSegment } from "../manage/ManageParameters.ts"
import { one } from "../manage/ManageResponses.ts"
import { HttpSettings } from "../server/HttpSettings.ts"

const bytesOf = (text: string) => Buffer.from(`${text.trimEnd()}\n`)

const declarations = {
  status: 200,
  description: "Declarations in TypeScript.",
  schema: { type: "string" },
  contentType: "text/plain; charset=utf-8",
} as const

const LEARNED = "It is learned from every event behind the feed, and holds names and kinds of fields, never a value."

export const manageShapes = Effect.gen(function* () {
  const shapes = yield* Shapes
  const { baseUrl } = yield* HttpSettings
  const common = {
    tag: "Sources",
    method: "GET",
    action: "event.read",
    segments: [idSegment("The source's id.")],
    errors: ["no_such_source"],
    params: { no_such_source: "id" },
  } as const
  return [
    manageEndpoint({
      ...common,
      id: "getSourceShape",
      path: "/manage/v1/sources/{id}/shape",
      summary: "The fields that a source sends",
      description: `Each field with its kinds, its share, since when it comes, and whether it changed in the last seven days. ${LEARNED}`,
      response: one(sourceShapeShape, "The fields."),
      respond: ({ path: [source] }) => Effect.map(shapes.fields(source), sourceShapeShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "getSourceSchema",
      path: "/manage/v1/sources/{id}/schema",
      summary: "JSON Schema of what a source sends",
      description: `A document of JSON Schema 2020-12. Every payload that was received is valid; new fields are too. ${LEARNED}`,
      response: one(Shape.open("The schema."), "The schema."),
      respond: ({ path: [source] }) => Effect.map(shapes.schema(source), bytesOf),
    }),
    manageEndpoint({
      ...common,
      id: "getSourceTypes",
      path: "/manage/v1/sources/{id}/types.d.ts",
      summary: "TypeScript type of what a source sends",
      description: `Every payload that was received is a value of the type, under \`strict\`. Numbers beyond a double may also be texts, as in the client. ${LEARNED}`,
      response: declarations,
      respond: ({ path: [source] }) => Effect.map(shapes.types(source), bytesOf),
    }),
    manageEndpoint({
      id: "getTypes",
      tag: "Sources",
      method: "GET",
      path: "/manage/v1/types.d.ts",
      summary: "TypeScript types of what all sources send",
      description: "A type for each source, including archived ones.",
      action: "event.read",
      response: declarations,
      respond: () => Effect.map(shapes.allTypes, bytesOf),
    }),
    manageEndpoint({
      id: "getAsyncApi",
      tag: "Sources",
      method: "GET",
      path: "/manage/v1/asyncapi",
      summary: "AsyncAPI document of what the cabinet sends",
      description:
        "An AsyncAPI 3.0 document: deliveries and the stream of the feed, with a message for each of the first 1,000 sources that are not archived. Payloads have the schemas of what was received, up to 4 MB of them.",
      action: "event.read",
      response: one(Shape.open("The document."), "The document."),
      respond: () => Effect.map(shapes.asyncApi(baseUrl), bytesOf),
    }),
  ]
})
