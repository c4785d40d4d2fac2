/** One event: its fields, its JSON to the last digit, the request that brought it, its row, and its deliveries. */
import type { Address } from "@data-cabinet/core/delivery/Address"
import type { Delivery } from "@data-cabinet/core/delivery/Attempt"
import type { EventRecord, StoredOriginal } from "@data-cabinet/core/event/EventDetail"
import type { ListedEvent } from "@data-cabinet/core/event/EventListStore"
import type { OtherReading } from "@data-cabinet/core/event/OtherReadings"
import type { Json } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { deliveryActs, deliveryState } from "../integration/DeliveryScreen.ts"
import { shownUrl } from "../integration/IntegrationScreen.ts"
import { badge } from "../html/Badge.ts"
import { ICONS } from "../html/Icons.ts"
import { jsonTree } from "../html/JsonTree.ts"
import { copyField, menu } from "../html/Menu.ts"
import { momentsIn } from "../html/Moment.ts"
import { shortName } from "../html/LongText.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import { actButton, postForm } from "../html/PostForm.ts"
import { sentAgain } from "../table/CopyTexts.ts"
import { deliveryLists } from "../table/ListBehind.ts"
import { withQuery } from "../screen/SelectionLinks.ts"
import { tablePath } from "../table/TablePath.ts"
import { type ReadEvent, readEvent } from "./EventJson.ts"
import { payloadFields } from "./PayloadFields.ts"
import { checkForms, lateVerdictIn, verdictIn } from "./SenderCheck.ts"
import { rereadForm } from "./RereadActs.ts"
import { hexDump, jsonFault, markedText, originalText } from "./OriginalText.ts"

export interface EventData {
  readonly record: EventRecord
  readonly deliveries: ReadonlyArray<Delivery>
  readonly addresses: ReadonlyArray<Address>
  /** Those that get events of its source in order, whose log has no line for each event. */
  readonly inOrder: ReadonlyArray<Address>
  /** As the list has it; null for one removed since. */
  readonly listed: ListedEvent | null
  readonly timeZone: string
  /** The list that it was opened from, below `/console/`. */
  readonly list: string
  /** Whether its source has a recipe that can verify the stored request. */
  readonly checkable: boolean
}

/** Addresses in order that get the event, but have no line for it. */
const withoutLine = ({ inOrder, deliveries, listed }: EventData): ReadonlyArray<Address> =>
  listed?.state === "row" && !listed.empty && !(JSON.parse(listed.event) as { readonly history: boolean }).history
    ? inOrder.filter(({ id }) => deliveries.every(({ addressId }) => addressId !== id))
    : []

const orderedLine = (frame: Frame, address: Address): Html => {
  const { event: words, integration } = frame.words
  const { eventId, behindSeconds } = address.position!
  return markup`<p><a href="${consolePath(frame, `addresses/${address.id}`)}">${shortName(shownUrl(frame, address))}</a> <span class="soft">${words.sentInOrder} ${integration.atEvent(eventId, Math.round(behindSeconds))}</span></p>`
}

const deliveryList = (frame: Frame, data: EventData): HtmlValue => {
  const { deliveries, addresses } = data
  const { event: words } = frame.words
  const others = withoutLine(data).map((address) => orderedLine(frame, address))
  if (deliveries.length === 0) return others.length > 0 ? others : markup`<p class="soft">${words.nobodyTold}</p>`
  const named = (id: number) => {
    const address = addresses.find((one) => one.id === id)
    return address === undefined ? `${words.address} ${id}` : shortName(shownUrl(frame, address))
  }
  return markup`<table class="list stacked"><thead><tr><th scope="col">${words.address}</th><th scope="col">${words.state}</th><th scope="col" class="n">${words.attempts}</th><th scope="col"><span class="hide">${words.acts}</span></th></tr></thead><tbody>${deliveries.map(
    (delivery) =>
      markup`<tr><th scope="row"><a href="${consolePath(frame, deliveryLists.within(`deliveries/${delivery.id}`, `events/${delivery.eventId}`))}">${named(delivery.addressId)}</a></th><td>${deliveryState(frame, delivery)}</td><td class="n">${delivery.attempts}</td><td class="n">${deliveryActs(frame, delivery, { from: "event", list: "" })}</td></tr>`,
  )}</tbody></table>${others}`
}

/** To the trash and back. */
const trashActs = (frame: Frame, { listed }: EventData, id: string): HtmlValue => {
  const { event: words } = frame.words
  const path = consolePath(frame, `events/${id}`)
  if (!may(frame, "event.trash") || listed === null || listed.state === "purged") return null
  if (listed.state !== "trashed") {
    const restored = listed.state === "spam" && actButton(`${path}/restore`, words.notSpam, "main")
    return markup`${restored}${actButton(`${path}/trash`, words.toTrash)}`
  }
  const erase =
    may(frame, "event.purge") &&
    menu({
      id: "erase",
      face: words.erase,
      kind: "danger",
      body: postForm({
        path: `${path}/purge`,
        body: markup`<p>${words.eraseHint}</p><label>${words.typeNumber(id)}<input name="confirm" required inputmode="numeric" autocomplete="off"></label><button class="danger">${words.erase}</button>`,
      }),
    })
  return markup`${actButton(`${path}/restore`, words.putBack, "main")}${erase}`
}

const trashBox = (frame: Frame, { listed }: EventData): HtmlValue => {
  const { event: words } = frame.words
  if (listed === null || (listed.state !== "trashed" && listed.state !== "purged")) return null
  const by = listed.trashedBy === null ? null : ` ${words.by} ${listed.trashedBy.name}`
  return markup`<div class="box" role="status">${ICONS.trash}<div><p>${listed.state === "purged" ? words.isPurged : markup`${words.isTrashed}${by}`}</p>${listed.state === "trashed" && markup`<p class="soft">${words.putBackHint}</p>`}</div></div>`
}

const spamBox = ({ words: { event: words } }: Frame, { record: { spam } }: EventData): HtmlValue =>
  spam !== null &&
  markup`<div class="box warn" role="status"><div><p>${words.isSpam}: ${words.spamReasons[spam]}.</p><p class="soft">${words.spamHint}</p></div></div>`

const asideBox = ({ words: { event: words } }: Frame, { record: { rowSetAside } }: EventData): HtmlValue =>
  rowSetAside !== null &&
  markup`<div class="box bad" role="status"><div><p>${words.rowSetAside}: ${rowSetAside}</p><p class="soft">${words.rowSetAsideHint}</p></div></div>`

const fact = (name: string, value: HtmlValue) =>
  value !== null && value !== false && value !== "" && markup`<dt>${name}</dt><dd>${value}</dd>`

const sizeText = ({ words: { event: words } }: Frame, { body, bodyBytes }: StoredOriginal): string =>
  body.byteLength < bodyBytes
    ? `${words.bytes(bodyBytes)}, ${words.beginningKept(body.byteLength)}`
    : words.bytes(bodyBytes)

const otherFields = (words: Frame["words"]["event"], { fields: names, more, place }: OtherReading): string =>
  `${names.join(", ")}${more > 0 ? words.andMore(more) : ""}${words.readingPlaces[place]}`

const originalPart = (frame: Frame, event: ReadEvent, { record: { original }, checkable }: EventData): Html => {
  const { id } = event
  const { event: words } = frame.words
  if (original === null) return markup`<p class="soft">${words.noOriginal}</p>`
  const text = originalText(original)
  const fault = jsonFault(original, text)
  return markup`<dl class="facts">${fact(words.received, original.receivedAt)}${fact("Content-Type", original.contentType)}${fact(words.size, sizeText(frame, original))}
${fact(words.charset, words.charsetVerdict(original.charset, original.charsetFrom, original.replaced))}${(original.others ?? []).map((reading) => fact(words.otherCharset(reading.name, reading.decidedBy), otherFields(words, reading)))}${fact(words.from, original.ip)}${fact("User-Agent", original.userAgent)}${fact("Origin", original.origin)}${fact("Referer", original.referer)}
${(original.kept?.headers ?? []).map(({ name, value }) => fact(name, value))}${fact(words.query, original.kept?.query ?? null)}${original.verdict !== null && fact(words.sender, verdictIn(words, original.verdict))}${original.late !== null && fact(words.checkedAgain, lateVerdictIn(words, original.late))}</dl>
${rereadForm(frame, id, original)}${checkable && checkForms(frame, event, original)}
${fault !== null && markup`<div class="box error"><p lang="en">${fault.words}</p></div>`}
${markedText(text, fault?.at ?? null)}
<details><summary>${words.hex}</summary><pre class="hex" tabindex="0">${hexDump(original.body)}</pre></details>
<p><a class="button" href="${consolePath(frame, `events/${id}/original`)}" download="event-${id}.bin">${words.download}</a></p>`
}

/** The payload with every digit, and the request as it can be sent again. */
const copyMenu = (frame: Frame, { record: { original } }: EventData, payload: Json): Html => {
  const { table: words, event } = frame.words
  const again = original === null ? null : sentAgain(frame.baseUrl, original.contentType, original.body)
  return menu({
    id: "copy",
    face: markup`${ICONS.copy}<span>${words.copy}</span>`,
    body: [
      copyField("copy-payload", event.payload, jsonText(payload), words.copy),
      again !== null && copyField("copy-curl", "curl", again, words.copy),
    ],
  })
}

export const eventScreen = (frame: Frame, data: EventData): Screen => {
  const { event: words } = frame.words
  const { record, listed, timeZone } = data
  const event = readEvent(record.event)
  const { table } = record
  const row =
    table !== null &&
    listed?.state === "row" &&
    withQuery(`${tablePath(frame, table.schema, table.name)}/row`, [
      ["fc", "_event_id"],
      ["fo", "eq"],
      ["fv", event.id],
    ])
  return {
    title: `${words.title} #${event.id}`,
    section: "events",
    main: markup`<p><a href="${consolePath(frame, data.list)}#event-${event.id}">← ${data.list.startsWith("trash") ? words.trash : words.list}</a></p>
<div class="head"><h1>${words.title} #${event.id}</h1><span class="row wrap">${copyMenu(frame, data, event.payload)}${row !== false && markup`<a class="button" href="${row}">${frame.words.table.row}</a>`}${trashActs(frame, data, event.id)}</span></div>
${trashBox(frame, data)}${spamBox(frame, data)}${asideBox(frame, data)}
<dl class="facts">${fact(words.source, markup`<a href="${consolePath(frame, `sources/${event.sourceId}`)}">${event.source}</a>`)}${fact(words.channel, words.channels[event.channel] ?? event.channel)}${fact(words.received, momentsIn(timeZone)(event.receivedAt))}
${fact(words.repeat, event.repeatOf !== null && markup`<a href="${consolePath(frame, `events/${event.repeatOf}`)}">#${event.repeatOf}</a>`)}${record.rowWaits && fact(words.state, badge("warn", words.rowWaits))}${event.schemaFault !== null && fact(words.state, markup`${badge("warn", words.states["invalid"] ?? "")} <span lang="en">${event.schemaFault}</span>`)}</dl>
<section class="card" aria-labelledby="fields"><h2 id="fields">${words.fields}</h2>${payloadFields(frame, event.payload)}</section>
<section class="card" aria-labelledby="json"><h2 id="json">JSON</h2>${jsonTree(record.event)}</section>
<section class="card" aria-labelledby="original"><h2 id="original">${words.original}</h2>${originalPart(frame, event, data)}</section>
<section class="card" aria-labelledby="deliveries"><h2 id="deliveries">${words.deliveries}</h2>${deliveryList(frame, data)}</section>`,
  }
}
