/** Erasures on request in a remote cabinet. */
import { AddressError } from "@data-cabinet/core/delivery/AddressError"
import { Erasure, type ErasureQuery } from "@data-cabinet/core/event/Erasure"
import type { erasureJson } from "@data-cabinet/core/event/ErasureJson"
import { TrashError } from "@data-cabinet/core/event/TrashError"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusedAs, type RemoteRefusal } from "../http/RemoteRefusal.ts"

const [ofTrash, ofConditions] = [ofCodes(TrashError), ofCodes(AddressError)]
const known = (refusal: RemoteRefusal) => ofTrash(refusal) ?? ofConditions(refusal)

export const layer = Layer.effect(
  Erasure,
  Effect.map(ManageApi, (api) => {
    const stretch =
      (dry_run: boolean) =>
      ({ filters, sourceId, after }: ErasureQuery) => {
        const body = { filters, after, dry_run, ...(sourceId === null ? {} : { source_id: sourceId }) }
        const request = { method: "POST", path: ["events", "erase"], body } as const
        return Effect.map(
          refusedAs(api.json<ReturnType<typeof erasureJson>>(request), known),
          ({ next_after: next, ...counts }) => ({ ...counts, next }),
        )
      }
    return Erasure.of({ find: stretch(true), erase: stretch(false) })
  }),
)
