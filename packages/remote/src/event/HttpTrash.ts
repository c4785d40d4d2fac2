/** The trash of a remote cabinet, and erasures on request. */
import { AddressError } from "@data-cabinet/core/delivery/AddressError"
import { Erasure, type ErasureCounts, type ErasureQuery } from "@data-cabinet/core/event/Erasure"
import { Trash, TrashError } from "@data-cabinet/core/event/Trash"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusedAs, type RemoteRefusal } from "../http/RemoteRefusal.ts"

const [ofTrash, ofConditions] = [ofCodes(TrashError), ofCodes(AddressError)]

const trash = Layer.effect(
  Trash,
  Effect.map(ManageApi, (api) => {
    const act = (name: string, body: object) =>
      Effect.map(
        refusedAs(api.json<{ readonly count: number }>({ method: "POST", path: ["events", name], body }), ofTrash),
        ({ count }) => count,
      )
    return Trash.of({
      trash: (source_id, events) => act("trash", { source_id, events }),
      untrash: (source_id, events) => act("restore", { source_id, events }),
      purge: (events) => act("purge", { events }),
    })
  }),
)

const known = (refusal: RemoteRefusal) => ofTrash(refusal) ?? ofConditions(refusal)

type Sent = ErasureCounts & { readonly nextAfter: number | null }

const erasures = Layer.effect(
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

export const layer = Layer.merge(trash, erasures)
