/** The activity of a remote cabinet, as its server counts it. */
import { Activity, ActivityError, type Overview } from "@data-cabinet/core/activity/Activity"
import type { ActivityBucket } from "@data-cabinet/core/activity/ActivityStore"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { refusalAsDefect, refusedAs } from "../http/RemoteRefusal.ts"

export const layer = Layer.effect(
  Activity,
  Effect.map(ManageApi, (api) =>
    Activity.of({
      timeZone: Effect.map(
        refusalAsDefect(api.json<{ readonly timeZone: string }>({ method: "GET", path: ["cabinet"] })),
        ({ timeZone }) => timeZone,
      ),
      overview: refusalAsDefect(api.json<Overview>({ method: "GET", path: ["overview"] })),
      events: ({ step, sourceId, from, to }) => {
        const query = Object.entries({ step, source_id: sourceId, from, to }).flatMap(([name, value]) =>
          value === null ? [] : [[name, String(value)] as const],
        )
        return refusedAs(
          api.list<ActivityBucket>({ method: "GET", path: ["activity"], query }),
          ({ code, message, param }) =>
            code === "bad_period" || code === "no_such_source"
              ? new ActivityError({ code, message, param: param ?? "" })
              : undefined,
        )
      },
    }),
  ),
)
