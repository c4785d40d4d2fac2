/** One event: its fields, its JSON to the last digit, the request that brought it, its row, and who was told of it. */
import type { Delivery } from "@data-cabinet/core/delivery/Attempt"
import type { EventRecord, StoredOriginal } from "@data-cabinet/core/event/EventDetail"
import { type Json, JsonNumber } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { badge, type Tone } from "../html/Badge.ts"
import { jsonTree } from "../html/JsonTree.ts"
import { consolePath, type Frame, type Screen } from "../html/Shell.ts"
import { withQuery } from "../table/SelectionLinks.ts"
import { tablePath } from "../table/TablePath.ts"
import { readEvent } from "./EventJson.ts"
import { hexDump, jsonFault, markedText, originalText } from "./OriginalText.ts"

export interface EventData {
  readonly record: EventRecord
  readonly deliveries: ReadonlyArray<Delivery>
}

const valueOf = (value: Json): Html => {
  if (value === null) return markup`<span class="soft">null</span>`
  if (typeof value === "string") return markup`<span class="value">${value}</span>`
  if (value instanceof JsonNumber) return markup`<span class="value mono">${value.token}</span>`
  return typeof value === "boolean" ? markup`<span class="mono">${String(value)}</span>` : jsonTree(jsonText(value))
}

const fields = (payload: Json): Html =>
  payload instanceof Map
    ? markup`<dl class="facts whole">${[...payload].map(([name, value]) => markup`<dt>${name}</dt><dd>${valueOf(value as Json)}</dd>`)}</dl>`
    : valueOf(payload)

const TONES: Readonly<Record<Delivery["state"], Tone>> = {
  due: "warn",
  delivered: "good",
  failed: "bad",
  cancelled: "quiet",
}

const deliveryList = (frame: Frame, deliveries: ReadonlyArray<Delivery>): Html => {
  const { event: words } = frame.words
  if (deliveries.length === 0) return markup`<p class="soft">${words.nobodyTold}</p>`
  return markup`<table class="list"><thead><tr><th scope="col">${words.address}</th><th scope="col">${words.state}</th><th scope="col" class="n">${words.attempts}</th></tr></thead><tbody>${deliveries.map(
    ({ addressId, state, attempts }) =>
      markup`<tr><th scope="row"><a href="${consolePath(frame, "integrations")}#address-${addressId}">${words.address} ${addressId}</a></th><td>${badge(TONES[state], words.deliveryStates[state] ?? state)}</td><td class="n">${attempts}</td></tr>`,
  )}</tbody></table>`
}

const fact = (name: string, value: HtmlValue) =>
  value !== null && value !== false && value !== "" && markup`<dt>${name}</dt><dd>${value}</dd>`

const originalPart = (frame: Frame, id: string, original: StoredOriginal | null): Html => {
  const { event: words } = frame.words
  if (original === null) return markup`<p class="soft">${words.noOriginal}</p>`
  const text = originalText(original)
  const fault = jsonFault(original, text)
  return markup`<dl class="facts">${fact(words.received, original.receivedAt)}${fact("Content-Type", original.contentType)}${fact(words.size, words.bytes(original.bodyBytes))}
${fact(words.charset, words.charsetVerdict(original.charset, original.charsetFrom, original.replaced))}${fact(words.from, original.ip)}${fact("User-Agent", original.userAgent)}${fact("Origin", original.origin)}${fact("Referer", original.referer)}</dl>
${fault !== null && markup`<div class="box error"><p lang="en">${fault.words}</p></div>`}
${markedText(text, fault?.at ?? null)}
<details><summary>${words.hex}</summary><pre class="hex" tabindex="0">${hexDump(original.body)}</pre></details>
<p><a class="button" href="${consolePath(frame, `events/${id}/original`)}" download="event-${id}.bin">${words.download}</a></p>`
}

export const eventScreen = (frame: Frame, { record, deliveries }: EventData): Screen => {
  const { event: words } = frame.words
  const event = readEvent(record.event)
  const { table } = record
  const row =
    table !== null &&
    event.repeatOf === null &&
    withQuery(`${tablePath(frame, table.schema, table.name)}/row`, [
      ["fc", "_event_id"],
      ["fo", "eq"],
      ["fv", event.id],
    ])
  return {
    title: `${words.title} #${event.id}`,
    section: "events",
    main: markup`<p><a href="${consolePath(frame, "events")}">← ${words.list}</a></p>
<div class="head"><h1>${words.title} #${event.id}</h1><span class="row">${row !== false && markup`<a class="button" href="${row}">${frame.words.table.row}</a>`}</span></div>
<dl class="facts">${fact(words.source, event.source)}${fact(words.channel, words.channels[event.channel] ?? event.channel)}${fact(words.received, markup`<time datetime="${event.receivedAt}">${event.receivedAt}</time>`)}
${fact(words.repeat, event.repeatOf !== null && markup`<a href="${consolePath(frame, `events/${event.repeatOf}`)}">#${event.repeatOf}</a>`)}${record.rowWaits && fact(words.state, badge("warn", words.rowWaits))}</dl>
<section class="card" aria-labelledby="fields"><h2 id="fields">${words.fields}</h2>${fields(event.payload)}</section>
<section class="card" aria-labelledby="json"><h2 id="json">JSON</h2>${jsonTree(record.event)}</section>
<section class="card" aria-labelledby="original"><h2 id="original">${words.original}</h2>${originalPart(frame, event.id, record.original)}</section>
<section class="card" aria-labelledby="deliveries"><h2 id="deliveries">${words.deliveries}</h2>${deliveryList(frame, deliveries)}</section>`,
  }
}
