/**
 * The attempts of the last day by the hour, in the colours of their outcomes, and how many each outcome and address has. It reads
 * the counts, and of the log only the latest minutes. An hour, an outcome and an address lead to the list that has them.
 */
import type { AttemptCounts } from "@data-cabinet/core/activity/ActivityStore"
import { deliveryFigures } from "@data-cabinet/core/activity/DeliveryFigures"
import type { Address } from "@data-cabinet/core/delivery/Address"
import { DELIVERY_OUTCOMES, type DeliveryOutcome } from "@data-cabinet/core/delivery/Attempt"
import type { DeliveryCounts } from "@data-cabinet/core/delivery/DeliveryQueue"
import type { Source } from "@data-cabinet/core/source/Source"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { stackedChart } from "../html/Chart.ts"
import { shortText } from "../html/LongText.ts"
import { consolePath, type Frame } from "../html/Shell.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { valueOf, withQuery, without } from "../screen/SelectionLinks.ts"
import { OUTCOME_TONES } from "./DeliveryReason.ts"
import { shownUrl } from "./IntegrationScreen.ts"
import { timeText } from "../html/Moment.ts"

export const CHART_HOURS = 24
const HOUR_MILLIS = 3_600_000
/** The addresses with the most failures. */
const MOST_ADDRESSES = 6
/** The sources with the most deliveries. */
const MOST_SOURCES = 6
/** Two lines of a facet. */
const FACET_CHARACTERS = 28

export interface AttemptsData {
  readonly counts: ReadonlyArray<AttemptCounts>
  readonly addresses: ReadonlyArray<Address>
  readonly pairs: Pairs
  readonly timeZone: string
  readonly now: number
  readonly byKind: DeliveryCounts
  readonly sources: ReadonlyArray<Source>
}

type Sums = Readonly<Record<DeliveryOutcome, number>>

const sumsOf = (counts: ReadonlyArray<AttemptCounts>): Sums => {
  const sums = { delivered: 0, refused: 0, error: 0, no_answer: 0 }
  for (const { outcome, attempts } of counts) sums[outcome] += attempts
  return sums
}

const utcField = (millis: number): string => new Date(millis).toISOString().slice(0, "2026-11-21T09:30".length)

/** The list with one filter changed, at its first page. */
const linkTo = (frame: Frame, pairs: Pairs, change: Readonly<Record<string, string>>): string => {
  const kept = without(pairs, "before").filter(([name]) => !Object.hasOwn(change, name))
  const added = Object.entries(change).filter(([, value]) => value !== "")
  return withQuery(consolePath(frame, "deliveries"), [...kept, ...added])
}

const bars = (frame: Frame, { counts, pairs, timeZone, now }: AttemptsData): Html => {
  const { deliveries: words, overview } = frame.words
  const time = timeText(timeZone)
  const byHour = Map.groupBy(counts, ({ at }) => Date.parse(at))
  const last = Math.floor(now / HOUR_MILLIS) * HOUR_MILLIS
  const hours = Array.from({ length: CHART_HOURS }, (_, n) => last - (CHART_HOURS - 1 - n) * HOUR_MILLIS)
  const drawn = hours.map((hour) => {
    const sums = sumsOf(byHour.get(hour) ?? [])
    const bad = sums.error + sums.no_answer
    const at = time(new Date(hour).toISOString()).slice(0, "2026-11-21 09:30".length)
    return {
      values: [
        [sums.delivered, "good"],
        [sums.refused, "warn"],
        [bad, "bad"],
      ] as const,
      title: `${at} · ${DELIVERY_OUTCOMES.map((one) => `${words.outcomes[one]} ${overview.number(sums[one])}`).join(" · ")}`,
      href: linkTo(frame, pairs, { from: utcField(hour), to: utcField(hour + HOUR_MILLIS) }),
    }
  })
  const since = time(new Date(hours[0]!).toISOString()).slice(11, 16)
  return markup`${stackedChart(drawn, words.byHour)}<p class="axis"><span>${since}</span><span>${overview.now}</span></p>`
}

const facet = (
  frame: Frame,
  text: string,
  value: number,
  most: number,
  href: string,
  tone: string,
  on: boolean,
): HtmlValue =>
  markup`<li><a class="facet" href="${href}"${on && markup` aria-current="true"`}><span><i class="dot ${tone}"></i><bdi title="${text}">${shortText(text, FACET_CHARACTERS)}</bdi></span><b>${frame.words.overview.number(value)}</b><meter max="${Math.max(most, 1)}" value="${value}" aria-hidden="true"></meter></a></li>`

const outcomes = (frame: Frame, { counts, pairs }: AttemptsData): HtmlValue => {
  const sums = sumsOf(counts)
  const most = Math.max(sums.delivered, sums.refused, sums.error, sums.no_answer)
  const current = valueOf(pairs, "outcome")
  return DELIVERY_OUTCOMES.map((one) => {
    const isOn = current === one
    const href = linkTo(frame, pairs, { outcome: isOn ? "" : one })
    return facet(frame, frame.words.deliveries.outcomes[one], sums[one], most, href, OUTCOME_TONES[one], isOn)
  })
}

/** Those with the most failed attempts, and how many. */
export const worstAddresses = (
  counts: ReadonlyArray<AttemptCounts>,
): ReadonlyArray<readonly [id: number, failed: number]> => {
  const failed = Map.groupBy(
    counts.filter(({ outcome }) => outcome !== "delivered"),
    ({ addressId }) => addressId,
  )
  const sums = [...failed].map(([id, some]) => [id, some.reduce((all, { attempts }) => all + attempts, 0)] as const)
  return sums.toSorted(([, one], [, other]) => other - one).slice(0, MOST_ADDRESSES)
}

const failures = (frame: Frame, { counts, pairs, addresses }: AttemptsData): HtmlValue => {
  const worst = worstAddresses(counts)
  if (worst.length === 0) return null
  const most = worst[0]![1]
  const current = valueOf(pairs, "address_id")
  const lines = worst.map(([id, value]) => {
    const address = addresses.find((one) => one.id === id)
    const isOn = current === String(id)
    const name =
      address === undefined
        ? `${frame.words.event.address} ${id}`
        : shownUrl(frame, address).replace(/^https?:\/\//, "")
    return facet(frame, name, value, most, linkTo(frame, pairs, { address_id: isOn ? "" : String(id) }), "bad", isOn)
  })
  return markup`<div><h3>${frame.words.deliveries.failuresAt}</h3><ul class="facets">${lines}</ul></div>`
}

/** How many deliveries there are of each, most first. */
const summed = <K>(groups: DeliveryCounts["groups"], keyOf: (group: DeliveryCounts["groups"][number]) => K) =>
  [...Map.groupBy(groups, keyOf)]
    .map(([key, some]) => [key, some.reduce((sum, { deliveries }) => sum + deliveries, 0)] as const)
    .toSorted(([, one], [, other]) => other - one)

/** Nothing while there is one to choose. The filter by the other of the two applies, so that each count is of what its link finds. */
const ofKinds = (frame: Frame, { byKind, sources, pairs }: AttemptsData): HtmlValue => {
  const { deliveries: words, event } = frame.words
  const { groups, whole } = byKind
  const chosen = { type: valueOf(pairs, "type") ?? "", source: valueOf(pairs, "source_id") ?? "" }
  const counted = whole ? null : groups.reduce((sum, { deliveries }) => sum + deliveries, 0)
  const block = (
    name: "type" | "source_id",
    current: string,
    all: ReadonlyArray<readonly [string, string, number]>,
  ) => {
    const lines = all.slice(0, MOST_SOURCES).map(([value, text, deliveries]) => {
      const isOn = current === value
      return facet(
        frame,
        text,
        deliveries,
        all[0]![2],
        linkTo(frame, pairs, { [name]: isOn ? "" : value }),
        "quiet",
        isOn,
      )
    })
    return markup`<div><h3>${name === "type" ? words.byType(counted) : words.bySource(counted)}</h3><ul class="facets">${lines}</ul></div>`
  }
  const ofSource = groups.filter(({ sourceId }) => chosen.source === "" || chosen.source === String(sourceId))
  const types = summed(ofSource, ({ type }) => type)
  const ofType = groups.filter(
    ({ type, sourceId }) => sourceId !== null && (chosen.type === "" || chosen.type === type),
  )
  const from = summed(ofType, ({ sourceId }) => sourceId)
  const nameOf = (source: number | null) => sources.find(({ id }) => id === source)?.name ?? `${event.source} ${source}`
  return markup`${
    (types.length > 1 || chosen.type !== "") &&
    block(
      "type",
      chosen.type,
      types.map(([type, n]) => [type, words.types[type], n]),
    )
  }${
    (from.length > 1 || chosen.source !== "") &&
    block(
      "source_id",
      chosen.source,
      from.map(([source, n]) => [String(source), nameOf(source), n]),
    )
  }`
}

/** Nothing for a cabinet that attempted nothing. */
export const attemptsChart = (frame: Frame, data: AttemptsData): HtmlValue => {
  if (data.counts.length === 0) return null
  const { deliveries: words, overview } = frame.words
  const { p50Millis: half, p95Millis: most } = deliveryFigures(data.counts)
  return markup`<section class="card attempted" aria-labelledby="by-hour"><div><h2 id="by-hour">${words.byHour}</h2>${bars(frame, data)}${half !== null && most !== null && markup`<p class="soft">${overview.within(half, most)}</p>`}</div><div><h3>${words.outcome}</h3><ul class="facets">${outcomes(frame, data)}</ul></div>${failures(frame, data)}${ofKinds(frame, data)}</section>`
}
