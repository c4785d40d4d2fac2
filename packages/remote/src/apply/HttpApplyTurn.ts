/** The turn of `cabinet apply` at a remote cabinet. */
import { ApplyTurn } from "@data-cabinet/core/apply/ApplyTurn"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { refusalAsDefect } from "../http/RemoteRefusal.ts"

export const layer = Layer.effect(
  ApplyTurn,
  Effect.map(ManageApi, (api) =>
    ApplyTurn.of({
      take: (holder) =>
        Effect.map(
          refusalAsDefect(
            api.json<{ readonly taken: boolean }>({ method: "POST", path: ["apply-turn"], body: { holder } }),
          ),
          ({ taken }) => taken,
        ),
      end: (holder) =>
        Effect.asVoid(refusalAsDefect(api.text({ method: "POST", path: ["apply-turn", "end"], body: { holder } }))),
    }),
  ),
)
