/** Which schemas of a remote cabinet's database readers see. */
import { SchemaGrants, SchemaGrantError } from "@data-cabinet/core/row/SchemaGrants"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusedAs } from "../http/RemoteRefusal.ts"

const known = ofCodes(SchemaGrantError)

export const layer = Layer.effect(
  SchemaGrants,
  Effect.map(ManageApi, (api) => {
    const change = (act: string) => (schema: string) =>
      Effect.map(
        refusedAs(api.json<{ readonly count: number }>({ method: "POST", path: ["schemas", schema, act] }), known),
        ({ count }) => ({ objects: count }),
      )
    const add = (schema: string) =>
      refusedAs(api.json<{ readonly author: string }>({ method: "POST", path: ["schemas", schema] }), known)
    return SchemaGrants.of({ expose: change("expose"), hide: change("hide"), add })
  }),
)
