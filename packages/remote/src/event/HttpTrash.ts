/** The trash of a remote cabinet. */
import { Trash } from "@data-cabinet/core/event/Trash"
import { TrashError } from "@data-cabinet/core/event/TrashError"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusedAs } from "../http/RemoteRefusal.ts"

const known = ofCodes(TrashError)

export const layer = Layer.effect(
  Trash,
  Effect.map(ManageApi, (api) => {
    const act = (name: string, body: object) =>
      Effect.map(
        refusedAs(api.json<{ readonly count: number }>({ method: "POST", path: ["events", name], body }), known),
        ({ count }) => count,
      )
    return Trash.of({
      trash: (source_id, events) => act("trash", { source_id, events }),
      untrash: (source_id, events) => act("restore", { source_id, events }),
      purge: (events) => act("purge", { events }),
    })
  }),
)
