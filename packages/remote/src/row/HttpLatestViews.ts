/** Views of the latest rows of a remote cabinet's tables. */
import { type LatestView, type LatestViewQuery, LatestViews, LatestViewError } from "@data-cabinet/core/row/LatestViews"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusedAs } from "../http/RemoteRefusal.ts"

const known = ofCodes(LatestViewError)

export const layer = Layer.effect(
  LatestViews,
  Effect.map(ManageApi, (api) => {
    const send = ({ schema, name, ...query }: LatestViewQuery, dryRun: boolean) =>
      Effect.map(
        refusedAs(
          api.json<LatestView>({
            method: "POST",
            path: ["tables", schema, name, "latest-view"],
            body: { ...query, ...(dryRun ? { dry_run: true } : {}) },
          }),
          known,
        ),
        ({ view, created, sql }) => ({ view, created, sql }),
      )
    return LatestViews.of({ show: (query) => send(query, true), create: (query) => send(query, false) })
  }),
)
