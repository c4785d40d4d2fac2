/** The shapes of a remote cabinet's payloads, as its server describes them. */
import type { SourceShape } from "@data-cabinet/core/payload/ShapeFields"
import { Shapes } from "@data-cabinet/core/payload/Shapes"
import type { JsonObject } from "@data-cabinet/core/json/Json"
import { ownJson } from "@data-cabinet/core/json/ParseJson"
import { SourceError } from "@data-cabinet/core/source/SourceError"
import { Effect, Layer, Option } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusalAsDefect, refusedAs } from "../http/RemoteRefusal.ts"

const known = ofCodes(SourceError)

export const layer = Layer.effect(
  Shapes,
  Effect.map(ManageApi, (api) => {
    const textOf = (id: number, name: string) =>
      refusedAs(api.text({ method: "GET", path: ["sources", id, name] }), known)
    const schema = (id: number) => Effect.map(textOf(id, "schema"), (text) => text.trimEnd())
    return Shapes.of({
      schema,
      schemas: (ids) =>
        Effect.map(
          Effect.forEach(
            ids,
            (id) =>
              Effect.map(
                Effect.option(schema(id)),
                Option.map((text) => [id, ownJson(text) as JsonObject] as const),
              ),
            {
              concurrency: 4,
            },
          ),
          (all) => new Map(all.flatMap(Option.toArray)),
        ),
      fields: (id) => refusedAs(api.json<SourceShape>({ method: "GET", path: ["sources", id, "shape"] }), known),
      types: (id) => textOf(id, "types.d.ts"),
      allTypes: refusalAsDefect(api.text({ method: "GET", path: ["types.d.ts"] })),
      asyncApi: () =>
        Effect.map(refusalAsDefect(api.text({ method: "GET", path: ["asyncapi"] })), (text) => text.trimEnd()),
    })
  }),
)
