/** The shapes of a remote cabinet's payloads, as its server describes them. */
import type { SourceShape } from "@data-cabinet/core/payload/ShapeFields"
import { Shapes } from "@data-cabinet/core/payload/Shapes"
import { SourceError } from "@data-cabinet/core/source/SourceError"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusalAsDefect, refusedAs } from "../http/RemoteRefusal.ts"

const known = ofCodes(SourceError)

export const layer = Layer.effect(
  Shapes,
  Effect.map(ManageApi, (api) => {
    const textOf = (id: number, name: string) =>
      refusedAs(api.text({ method: "GET", path: ["sources", id, name] }), known)
    return Shapes.of({
      fields: (id) => refusedAs(api.json<SourceShape>({ method: "GET", path: ["sources", id, "shape"] }), known),
      schema: (id) => Effect.map(textOf(id, "schema"), (text) => text.trimEnd()),
      types: (id) => textOf(id, "types.d.ts"),
      allTypes: refusalAsDefect(api.text({ method: "GET", path: ["types.d.ts"] })),
    })
  }),
)
