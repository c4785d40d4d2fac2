/** The overview and the state of the database. */
import { Activity } from "@data-cabinet/core/activity/Activity"
import { AddressStore } from "@data-cabinet/core/delivery/AddressStore"
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Diagnostics } from "@data-cabinet/core/diagnostics/Diagnostics"
import { findingsOf } from "@data-cabinet/core/diagnostics/Findings"
import { EventBrowser } from "@data-cabinet/core/event/EventBrowser"
import { mayDo } from "@data-cabinet/core/key/Role"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { consolePath } from "../html/Shell.ts"
import { liveFrom } from "../live/LiveScreens.ts"
import { type ConsoleScreen, wantsFragment } from "../screen/ConsoleScreen.ts"
import { doctorScreen } from "./DoctorScreen.ts"
import { overviewBody, overviewScreen } from "./OverviewScreen.ts"

const LATEST = 8
/** The most failing addresses that are named: if all of a thousand fail, it is one fault. */
const MOST_FAILING = 20
const AT_ONCE = 4

export const overviewScreens = Effect.gen(function* () {
  const activity = yield* Activity
  const sources = yield* Sources
  const addresses = yield* AddressStore
  const queue = yield* DeliveryQueue
  const browser = yield* EventBrowser
  const diagnostics = yield* Diagnostics
  const { timeZone } = yield* ConsoleSettings

  const live = yield* liveFrom
  const data = Effect.gen(function* () {
    const from = yield* live({ sourceId: null, channel: null })
    const [all, known, failing, gauge, { items }, counts] = yield* Effect.all(
      [
        sources.list,
        addresses.count,
        addresses.troubled("failing", MOST_FAILING),
        queue.gauge,
        browser.page({ limit: LATEST }),
        activity.overview,
      ],
      { concurrency: AT_ONCE },
    )
    return { sources: all, addresses: known, failing, gauge, activity: counts, events: items, timeZone, live: from }
  })

  const screens: ReadonlyArray<ConsoleScreen> = [
    { path: "/console", action: null, get: ({ frame }) => Effect.succeed({ location: consolePath(frame) }) },
    {
      path: "/console/",
      action: "self.read",
      get: (call) => {
        const { frame, actor } = call
        return mayDo(actor!.role, "source.read") && mayDo(actor!.role, "event.read")
          ? Effect.map(data, (found) =>
              wantsFragment(call)
                ? { fragment: overviewBody(frame, found).text }
                : { screen: overviewScreen(frame, found) },
            )
          : Effect.succeed({ location: consolePath(frame, "tables") })
      },
    },
    {
      path: "/console/doctor",
      action: "diagnostics.read",
      get: ({ frame }) =>
        Effect.map(Effect.all([diagnostics.examine, queue.gauge]), ([report, gauge]) => ({
          screen: doctorScreen(frame, {
            findings: findingsOf({ diagnostics: report, gauge }),
            followers: report.followers,
            cold: report.cold,
            timeZone,
          }),
        })),
    },
  ]
  return screens
})
