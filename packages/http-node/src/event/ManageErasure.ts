/** Erasures on request over the management API. */
import { Erasure, erasureShape } from "@data-cabinet/core/event/Erasure"
import { Effect, Schema } from "effect"
import { idField } from "../manage/ManageBodies.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { one } from "../manage/ManageResponses.ts"
import { conditionsField } from "../delivery/AddressBodies.ts"

const erasure = Schema.Struct({
  filters: conditionsField("Conditions for the fields of an event, all of which must hold; at least one."),
  source_id: Schema.optionalKey(idField),
  dry_run: Schema.Boolean.annotate({ description: "True: what would be erased is counted, and nothing is changed." }),
  after: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })).annotate({
      description: "The last response's `next_after`; absent to begin.",
    }),
  ),
})

export const manageErasure = Effect.gen(function* () {
  const events = yield* Erasure
  return [
    manageEndpoint({
      id: "eraseEvents",
      tag: "Events",
      method: "POST",
      path: "/manage/v1/events/erase",
      summary: "Erase a person's data",
      description:
        "Erases the events for whose fields the conditions hold permanently, with their repeats, as `purgeEvents` does. It goes through the events stretch by stretch: add up the counts, and repeat it with `after` while `next_after` is not null. An interrupted erasure may begin again.",
      action: "event.purge",
      body: erasure,
      response: one(erasureShape, "The counts of this stretch, erased or to be erased."),
      errors: ["bad_filter", "bad_fo", "bad_fv", "no_such_source"],
      params: { bad_filter: "/filters", bad_fo: "/filters", bad_fv: "/filters", no_such_source: "/source_id" },
      respond: ({ body: { filters, source_id = null, dry_run, after = 0 } }) => {
        const query = { filters, sourceId: source_id, after }
        return Effect.map(dry_run ? events.find(query) : events.erase(query), erasureShape.json)
      },
    }),
  ]
})
