/** A timestamp in the cabinet's time zone, with the whole of it in UTC as its title; a dash where there is none. */
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { timeText } from "../table/TimeText.ts"

export type ShowMoment = (rfc3339: string | null) => HtmlValue

export const momentsIn = (timeZone: string): ShowMoment => {
  const time = timeText(timeZone)
  return (text) =>
    text === null ? "–" : markup`<time class="nowrap" datetime="${text}" title="${text}">${time(text)}</time>`
}
