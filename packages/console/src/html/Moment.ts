/** Timestamps for people: in the cabinet's time zone, to the second. */
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"

export type TimeText = (rfc3339: string) => string

const MOMENT = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:\.\d+)?Z$/

/** A value that is not an RFC 3339 time, such as `infinity`, stays as it is. */
export const timeText = (timeZone: string): TimeText => {
  const format =
    timeZone === "UTC" ? null : new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" })
  return (text) => {
    const [, day, time] = MOMENT.exec(text) ?? []
    if (day === undefined) return text
    return format === null ? `${day} ${time}` : format.format(new Date(text))
  }
}

/** With the full timestamp in UTC as its title; a dash for null. */
export type ShowMoment = (rfc3339: string | null) => HtmlValue

export const momentsIn = (timeZone: string): ShowMoment => {
  const time = timeText(timeZone)
  return (text) =>
    text === null ? "–" : markup`<time class="nowrap" datetime="${text}" title="${text}">${time(text)}</time>`
}
