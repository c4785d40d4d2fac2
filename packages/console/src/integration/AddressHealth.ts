/** The health of each address in a list: its last response, its last day, and how many deliveries wait. */
import { ActivityStore, type AttemptCounts, MOST_WAITING } from "@data-cabinet/core/activity/ActivityStore"
import type { Address } from "@data-cabinet/core/delivery/Address"
import { type AddressHealth, AddressStore } from "@data-cabinet/core/delivery/AddressStore"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { Clock, Effect } from "effect"
import { badge } from "../html/Badge.ts"
import { sparkline } from "../html/Chart.ts"
import type { ShowMoment } from "../html/Moment.ts"
import type { Frame } from "../html/Shell.ts"
import { OUTCOME_TONES } from "./DeliveryReason.ts"

/** The last day. */
const HOURS = 24
const HOUR_MILLIS = 3_600_000

/** The health of one address, with its last day. */
export interface Going extends AddressHealth {
  /** Delivered by the hour, the current one last. */
  readonly hours: ReadonlyArray<number>
  readonly failed: number
}

const goingOf = (health: AddressHealth, counts: ReadonlyArray<AttemptCounts>, now: number): Going => {
  const hours = Array.from({ length: HOURS }, () => 0)
  let failed = 0
  const last = Math.floor(now / HOUR_MILLIS)
  for (const { at, outcome, attempts } of counts) {
    const place = HOURS - 1 - last + Date.parse(at) / HOUR_MILLIS
    if (outcome !== "delivered") failed += attempts
    else if (place in hours) hours[place]! += attempts
  }
  return { ...health, hours, failed }
}

export const healthFrom = Effect.gen(function* () {
  const addresses = yield* AddressStore
  const activity = yield* ActivityStore
  return Effect.fnUntraced(function* (listed: ReadonlyArray<Address>) {
    const [health, counts, now] = yield* Effect.all([
      addresses.health(listed.map(({ id }) => id)),
      activity.attempts(HOURS),
      Clock.currentTimeMillis,
    ])
    const byAddress = Map.groupBy(counts, ({ addressId }) => addressId)
    return new Map(health.map((one) => [one.id, goingOf(one, byAddress.get(one.id) ?? [], now)]))
  })
})

export const goingHeads = ({ words: { integration: words } }: Frame): Html =>
  markup`<th scope="col" class="wide-only">${words.lastResponse}</th><th scope="col" class="wide-only">${words.day}</th><th scope="col" class="n wide-only">${words.waiting}</th>`

export const goingCells = (frame: Frame, going: Going | undefined, moment: ShowMoment): Html => {
  const { integration: words, overview, deliveries } = frame.words
  if (going === undefined) return markup`<td class="wide-only" colspan="3"></td>`
  const { last, hours, failed, waiting } = going
  const delivered = hours.reduce((sum, one) => sum + one, 0)
  const response: HtmlValue =
    last === null
      ? "–"
      : markup`${badge(OUTCOME_TONES[last.outcome], last.status === null ? deliveries.outcomes.no_answer : String(last.status))} <small>${moment(last.at)}</small>`
  const day = `${words.delivered(delivered)} · ${overview.failedAttempts(failed)}`
  return markup`<td class="wide-only">${response}</td><td class="wide-only" title="${day}">${sparkline(hours, day)}</td><td class="n wide-only">${overview.number(waiting)}${waiting === MOST_WAITING && "+"}</td>`
}
