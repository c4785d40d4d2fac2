/** A timestamp in the cabinet's time zone, with the full timestamp in UTC as its title; a dash for null. */
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { timeText } from "./TimeText.ts"

export type ShowMoment = (rfc3339: string | null) => HtmlValue

export const momentsIn = (timeZone: string): ShowMoment => {
  const time = timeText(timeZone)
  return (text) =>
    text === null ? "–" : markup`<time class="nowrap" datetime="${text}" title="${text}">${time(text)}</time>`
}
