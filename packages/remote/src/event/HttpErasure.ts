/** Erasures on request in a remote cabinet. */
import { AddressError } from "@data-cabinet/core/delivery/AddressError"
import { Erasure, type ErasureCounts, type ErasureQuery } from "@data-cabinet/core/event/Erasure"
import { TrashError } from "@data-cabinet/core/event/TrashError"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusedAs, type RemoteRefusal } from "../http/RemoteRefusal.ts"

const [ofTrash, ofConditions] = [ofCodes(TrashError), ofCodes(AddressError)]
const known = (refusal: RemoteRefusal) => ofTrash(refusal) ?? ofConditions(refusal)

type Sent = ErasureCounts & { readonly nextAfter: number | null }

export const layer = Layer.effect(
  Erasure,
  Effect.map(ManageApi, (api) => {
    const stretch =
      (dry_run: boolean) =>
      ({ filters, sourceId, after }: ErasureQuery) => {
        const body = { filters, after, dry_run, ...(sourceId === null ? {} : { source_id: sourceId }) }
        const request = { method: "POST", path: ["events", "erase"], body } as const
        return Effect.map(refusedAs(api.json<Sent>(request), known), ({ nextAfter: next, ...counts }) => ({
          ...counts,
          next,
        }))
      }
    return Erasure.of({ find: stretch(true), erase: stretch(false) })
  }),
)
