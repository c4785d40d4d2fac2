/** A cabinet's activity, by hours and days, over the management API. */
import { Activity, overviewShape } from "@data-cabinet/core/activity/Activity"
import { ACTIVITY_STEPS, activityStepShape } from "@data-cabinet/core/activity/ActivityStore"
import { Effect } from "effect"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { idParameter, timeParameter, wordParameter } from "../manage/ManageParameters.ts"
import { list, one, whole } from "../manage/ManageResponses.ts"

export const manageActivity = Effect.gen(function* () {
  const activity = yield* Activity
  return [
    manageEndpoint({
      id: "getOverview",
      tag: "Events",
      method: "GET",
      path: "/manage/v1/overview",
      summary: "The cabinet's activity",
      description:
        "Events of the last two days, each source with its last week and whether it has been silent for longer than usual, how deliveries went in the last day, and what waits for failing addresses. Read from counts, so that it costs the same however many events there are. Attempts are counted two minutes after they began.",
      action: "event.read",
      response: one(overviewShape, "The overview."),
      respond: () => Effect.map(activity.overview, overviewShape.json),
    }),
    manageEndpoint({
      id: "listActivity",
      tag: "Events",
      method: "GET",
      path: "/manage/v1/activity",
      summary: "Events by hours or days",
      description:
        "Every hour (of UTC) or day (of the cabinet's time zone) of the period, oldest first, at most 1,000. Counts are of what was received: events in the trash and erased ones are among them.",
      action: "event.read",
      parameters: [
        wordParameter("step", ACTIVITY_STEPS, "What is counted together; default: `hour`."),
        idParameter("source_id", "Only events of this source."),
        timeParameter("from", "The start of the period; default: 48 hours or 28 days before its end."),
        timeParameter("to", "The end of the period; default: now."),
      ],
      response: list(activityStepShape, "The hours or days."),
      errors: ["bad_period", "no_such_source"],
      respond: ({ query: { step = "hour", source_id, from, to } }) =>
        Effect.map(
          activity.events({ step, sourceId: source_id ?? null, from: from ?? null, to: to ?? null }),
          (steps) => whole(steps.map(activityStepShape.json)),
        ),
    }),
  ]
})
