/**
 * What a request to an address carries: body, method and headers, made by the address's setting at the time of
 * sending. So a delivery that is sent again is also written again. It can contain only the event, and the chat that a
 * Telegram URL names: a template cannot reach the secrets and headers of the address.
 */
import { Effect, Result } from "effect"
import { type Json, JsonNumber, type JsonObject } from "../json/Json.ts"
import { jsonText } from "../json/JsonText.ts"
import { JsonReading, ownJson } from "../json/ParseJson.ts"
import type { DeliveryType } from "./Attempt.ts"
import type { BodySetting } from "./BodySetting.ts"
import { type CompiledTemplate, compileTemplate, formText, MAX_RENDERED, renderTemplate } from "./BodyTemplate.ts"
import { CHATS } from "./ChatBody.ts"
import { binaryHeaders, structuredEvent } from "./CloudEvent.ts"
import { batchBody, deliveryBody } from "./DeliveryBody.ts"
import type { Claimed } from "./DeliveryQueue.ts"

/** A delivery to write. */
export type Written = Pick<Claimed, "id" | "type" | "createdAt" | "event">

/** The deliveries of one request. `isBatch`: they are sent as a batch, even if there is only one. */
export interface Parcel {
  readonly items: ReadonlyArray<Written>
  readonly isBatch: boolean
}

/** A request's body, with the headers that describe it. */
export interface Letter {
  readonly id: number
  readonly type: DeliveryType | "events.received"
  readonly method: BodySetting["method"]
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** To whom it goes, as far as the body depends on it. */
export interface Receiver {
  readonly url: string
  readonly body?: BodySetting
}

const JSON_HEADERS = { "Content-Type": "application/json" }

const typeOf = ({ items, isBatch }: Parcel): Letter["type"] => (isBatch ? "events.received" : items.at(-1)!.type)

/** The contract's own body. */
const standardLetter = (parcel: Parcel): Letter => {
  const last = parcel.items.at(-1)!
  const body = parcel.isBatch ? batchBody(parcel.items) : deliveryBody(last)
  return { id: last.id, type: typeOf(parcel), method: "POST", headers: JSON_HEADERS, body }
}

/** The sample event of a test while there is no event yet. */
const SAMPLE = ownJson('{"message":"A test of Data Cabinet"}')
const SAMPLE_SOURCE = "Test"

/** The event of a delivery, as templates and messages see it. */
interface Parts {
  readonly delivery: Written
  readonly event: JsonObject
}

/** A long text is parsed in pieces of this many characters. */
const PIECE = 65_536

const sampleEvent = ({ createdAt }: Written): JsonObject =>
  new Map<string, Json>([
    ["id", new JsonNumber("0")],
    [
      "source",
      new Map<string, Json>([
        ["id", new JsonNumber("0")],
        ["name", SAMPLE_SOURCE],
      ]),
    ],
    ["channel", "webhook"],
    ["received_at", createdAt],
    ["payload", SAMPLE],
  ])

const partsOf = Effect.fnUntraced(function* (delivery: Written) {
  if (delivery.event === null) return { delivery, event: sampleEvent(delivery) }
  const reading = new JsonReading(Buffer.from(delivery.event.json).toString(), { maxDepth: 10_000 })
  let parsed = reading.advance(PIECE)
  while (parsed === undefined) {
    yield* Effect.yieldNow
    parsed = reading.advance(PIECE)
  }
  return { delivery, event: Result.getOrThrow(parsed) as JsonObject }
})

const textIn = (event: JsonObject, name: string): string => {
  const value = event.get(name)
  return typeof value === "string" ? value : ""
}

const objectIn = (event: JsonObject, name: string): JsonObject => {
  const value = event.get(name)
  return value instanceof Map ? value : new Map<string, Json>()
}

const numberIn = (event: JsonObject, name: string): number => {
  const value = event.get(name)
  return value instanceof JsonNumber ? Number(value.token) : 0
}

const cloudParts = ({ delivery, event }: Parts) => {
  const verified = event.get("verified")
  return {
    id: numberIn(event, "id"),
    type: delivery.type,
    sourceId: numberIn(objectIn(event, "source"), "id"),
    sourceName: textIn(objectIn(event, "source"), "name"),
    channel: textIn(event, "channel"),
    receivedAt: textIn(event, "received_at"),
    verified: typeof verified === "boolean" ? verified : null,
    payload: objectIn(event, "payload"),
  }
}

/** The most recently used templates, by their text. */
const compiled = new Map<string, CompiledTemplate>()
const MAX_COMPILED = 200

const templateOf = (text: string, use: "json" | "form"): CompiledTemplate => {
  const key = `${use} ${text}`
  const known = compiled.get(key)
  if (known !== undefined) return known
  if (compiled.size >= MAX_COMPILED) compiled.clear()
  const fresh = Result.getOrThrowWith(compileTemplate(text, use), (message) => new Error(message))
  compiled.set(key, fresh)
  return fresh
}

const rendered = (template: string, use: "json" | "form", { delivery, event }: Parts) => {
  const root = new Map<string, Json>([...event, ["event", event], ["delivery_id", new JsonNumber(String(delivery.id))]])
  const most = Math.max(MAX_RENDERED, 2 * (delivery.event?.json.length ?? 0))
  return renderTemplate(templateOf(template, use), root, most)
}

interface Described {
  readonly text: string
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>>
}

const json = (text: string): Result.Result<Described, string> =>
  Result.succeed({ text, contentType: JSON_HEADERS["Content-Type"] })

const form = (template: string | null, parts: Parts): Result.Result<Described, string> => {
  const fields =
    template === null
      ? Result.succeed(objectIn(parts.event, "payload"))
      : Result.map(rendered(template, "form", parts), (text) => ownJson(text) as JsonObject)
  const contentType = "application/x-www-form-urlencoded"
  return Result.map(fields, (all) => ({ text: formText(all), contentType }))
}

const CLOUD_TYPE = "application/cloudevents"

/** One event. */
const describe = (body: BodySetting, parts: Parts, url: string): Result.Result<Described, string> => {
  const { kind, template, contentType } = body
  if (kind === "cloudevents") {
    return Result.succeed({
      text: structuredEvent(cloudParts(parts)),
      contentType: `${CLOUD_TYPE}+json; charset=utf-8`,
    })
  }
  if (kind === "cloudevents-binary") {
    const event = cloudParts(parts)
    return Result.map(json(jsonText(event.payload)), (one) => ({ ...one, headers: binaryHeaders(event) }))
  }
  if (kind === "form") return form(template, parts)
  if (kind === "template" || kind === "standard") {
    return Result.map(rendered(template ?? "null", "json", parts), (text) => ({
      text,
      contentType: contentType ?? JSON_HEADERS["Content-Type"],
    }))
  }
  const { id, sourceName: source, receivedAt, payload } = cloudParts(parts)
  return json(JSON.stringify(CHATS[kind]({ id, source, receivedAt, payload }, url)))
}

/** The JSON of a batch is the list of its bodies. */
const batchOf = (all: ReadonlyArray<Described>): Described => {
  const [{ contentType }] = all as [Described]
  return {
    text: `[${all.map(({ text }) => text).join(",")}]`,
    contentType: contentType.replace(`${CLOUD_TYPE}+json`, `${CLOUD_TYPE}-batch+json`),
  }
}

const ownLetter = Effect.fnUntraced(function* (body: BodySetting, url: string, parcel: Parcel) {
  const all: Array<Described> = []
  for (const item of parcel.items) {
    all.push(yield* Effect.fromResult(describe(body, yield* partsOf(item), url)))
  }
  const { text, contentType, headers = {} } = parcel.isBatch ? batchOf(all) : all[0]!
  const letter: Letter = {
    id: parcel.items.at(-1)!.id,
    type: typeOf(parcel),
    method: body.method,
    headers: { ...headers, "Content-Type": contentType },
    body: Buffer.from(text),
  }
  return letter
})

/** Fails, with words for the log, if the body would be too long. The contract's own body is written at once. */
export const writeLetter = ({ url, body }: Receiver, parcel: Parcel): Letter | Effect.Effect<Letter, string> =>
  body === undefined || body.kind === "standard" ? standardLetter(parcel) : ownLetter(body, url, parcel)
