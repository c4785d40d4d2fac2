/** Late verification of a remote cabinet's events. */
import { type LateQuery, LateVerification, LateVerificationError } from "@data-cabinet/core/event/LateVerification"
import type { LatePage, LateVerdicts } from "@data-cabinet/core/verification/LateVerdict"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusedAs } from "../http/RemoteRefusal.ts"

const known = ofCodes(LateVerificationError)

export const layer = Layer.effect(
  LateVerification,
  Effect.map(ManageApi, (api) => {
    const page = ({ sourceId, deliver, limit, cursor }: LateQuery, dryRun: boolean) => {
      const body = {
        deliver,
        dry_run: dryRun,
        ...(limit === undefined ? {} : { limit }),
        ...(cursor === undefined ? {} : { cursor }),
      }
      const request = { method: "POST", path: ["sources", sourceId, "verify"], body } as const
      return refusedAs(api.json<LatePage>(request), known)
    }
    return LateVerification.of({
      events: (events, { deliver }) => {
        const request = { method: "POST", path: ["events", "verify"], body: { events, deliver } } as const
        return refusedAs(api.json<LateVerdicts>(request), known)
      },
      source: (query) => page(query, false),
      trySource: (query) => page(query, true),
    })
  }),
)
