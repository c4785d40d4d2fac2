/** The pictures of the overview, each with the table of its numbers: events by the hour, and how deliveries went. */
import type { Overview } from "@data-cabinet/core/activity/Activity"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { type Bar, barChart } from "../html/Chart.ts"
import type { Frame } from "../html/Shell.ts"
import { timeText } from "../html/Moment.ts"

const DELIVERY_HOURS = 24

/** An hour in the cabinet's zone, to the minute. */
const hoursIn = (timeZone: string) => {
  const time = timeText(timeZone)
  return (at: string): string => time(at).slice(0, "2026-11-21 09:30".length)
}

interface Figure {
  readonly id: string
  readonly title: string
  readonly figures: Html
  /** Below the picture. */
  readonly note?: HtmlValue
  readonly bars: ReadonlyArray<Bar>
  readonly since: string
  readonly head: ReadonlyArray<string>
  readonly rows: ReadonlyArray<readonly [hour: string, ...counts: ReadonlyArray<number>]>
}

/** With more than two counts, a phone shows only the first. */
const onPhone = (at: number, all: ReadonlyArray<unknown>): string => (at > 0 && all.length > 3 ? "n wide-only" : "n")

const figure = ({ words }: Frame, { id, title, figures, note = null, bars, since, head, rows }: Figure): Html => {
  const { overview } = words
  const [hour, ...counts] = head
  const line = ([at, ...values]: Figure["rows"][number]): HtmlValue =>
    markup`<tr><th scope="row" class="nowrap">${at}</th>${values.map((value, n) => markup`<td class="${onPhone(n, head)}">${overview.number(value)}</td>`)}</tr>`
  return markup`<section class="card figure" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${figures}
${barChart(bars, title)}<p class="axis"><span>${since}</span><span>${overview.now}</span></p>${note}
<details><summary>${overview.asTable}</summary><table class="list"><thead><tr><th scope="col">${hour ?? ""}</th>${counts.map((text, n) => markup`<th scope="col" class="${onPhone(n, head)}">${text}</th>`)}</tr></thead><tbody>${rows.toReversed().map(line)}</tbody></table></details></section>`
}

const events = (frame: Frame, { hours }: Overview, timeZone: string): Html => {
  const { overview: words } = frame.words
  const hour = hoursIn(timeZone)
  // One import of a file would flatten the picture for two days.
  const fresh = (one: Overview["hours"][number]) => Math.max(0, one.events - one.history)
  const total = hours.reduce((sum, one) => sum + fresh(one), 0)
  const most = hours.reduce((highest, one) => Math.max(highest, fresh(one)), 0)
  const imported = hours.reduce((sum, one) => sum + one.history, 0)
  return figure(frame, {
    id: "hours",
    title: words.events48,
    figures: markup`<p><b>${words.number(total)}</b> <span class="soft">· ${words.peak(most)}</span></p>`,
    note: imported > 0 && markup`<p class="soft">${words.imported(imported)}</p>`,
    bars: hours.map((one) => ({
      values: [fresh(one)],
      title: `${hour(one.at)} · ${words.number(fresh(one))}${one.history > 0 ? ` · ${words.imported(one.history)}` : ""}`,
      begins: hour(one.at).endsWith(" 00:00"),
    })),
    since: hours[0] === undefined ? "" : hour(hours[0].at),
    head: [words.hour, words.events, words.repeats, words.empties, words.history],
    rows: hours.map((one) => [hour(one.at), one.events, one.repeats, one.empty, one.history]),
  })
}

const deliveries = (frame: Frame, { hours, deliveryHours, deliveries: whole }: Overview, timeZone: string): Html => {
  const { overview: words } = frame.words
  const hour = hoursIn(timeZone)
  const counted = new Map(deliveryHours.map((one) => [one.at, one]))
  const shown = hours.slice(-DELIVERY_HOURS).map(({ at }) => {
    const { delivered = 0, failed = 0 } = counted.get(at) ?? {}
    return { at, delivered, failed }
  })
  const { p50Millis: half, p95Millis: most } = whole
  return figure(frame, {
    id: "deliveries",
    title: words.deliveries24,
    figures: markup`<p><b>${words.number(whole.delivered)}</b> <span class="soft">· ${words.failedAttempts(whole.failed)}</span></p>`,
    note: half !== null && most !== null && markup`<p class="soft">${words.within(half, most)}</p>`,
    bars: shown.map(({ at, delivered, failed }) => ({
      values: [delivered, failed],
      title: `${hour(at)} · ${words.number(delivered)} · ${words.failedAttempts(failed)}`,
      begins: hour(at).endsWith(" 00:00"),
    })),
    since: shown[0] === undefined ? "" : hour(shown[0].at),
    head: [words.hour, words.delivered, words.failed],
    rows: shown.map(({ at, delivered, failed }) => [hour(at), delivered, failed]),
  })
}

/** `delivers`: whether there are addresses, or were in the last day. */
export const activityCharts = (frame: Frame, activity: Overview, timeZone: string, delivers: boolean): Html =>
  markup`<div class="charts">${events(frame, activity, timeZone)}${delivers && deliveries(frame, activity, timeZone)}</div>`
