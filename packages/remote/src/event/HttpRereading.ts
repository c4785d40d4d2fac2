/** Reading a remote cabinet's events again in another charset. */
import { RereadError } from "@data-cabinet/core/intake/RereadError"
import { Rereading, type RereadOptions, type RereadQuery } from "@data-cabinet/core/intake/Rereading"
import type { RereadPage, RereadVerdicts } from "@data-cabinet/core/intake/RereadVerdict"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusedAs } from "../http/RemoteRefusal.ts"

const known = ofCodes(RereadError)

const optionsJson = ({ encoding, allValues, deliver }: RereadOptions, dryRun: boolean) => ({
  encoding,
  all_values: allValues,
  deliver,
  dry_run: dryRun,
})

export const layer = Layer.effect(
  Rereading,
  Effect.map(ManageApi, (api) => {
    const given = (events: ReadonlyArray<number>, options: RereadOptions, dryRun: boolean) => {
      const body = { events, ...optionsJson(options, dryRun) }
      const request = { method: "POST", path: ["events", "reread"], body } as const
      return refusedAs(api.json<RereadVerdicts>(request), known)
    }
    const page = ({ sourceId, limit, cursor, ...options }: RereadQuery, dryRun: boolean) => {
      const body = {
        ...optionsJson(options, dryRun),
        ...(limit === undefined ? {} : { limit }),
        ...(cursor === undefined ? {} : { cursor }),
      }
      const request = { method: "POST", path: ["sources", sourceId, "reread"], body } as const
      return refusedAs(api.json<RereadPage>(request), known)
    }
    return Rereading.of({
      events: (events, options) => given(events, options, false),
      tryEvents: (events, options) => given(events, options, true),
      source: (query) => page(query, false),
      trySource: (query) => page(query, true),
    })
  }),
)
