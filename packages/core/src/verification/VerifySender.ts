/**
 * Decides by a recipe whether a request comes from a holder of the secret. Compares in constant time, over the bytes
 * that were signed. The length of a request bounds the work that it causes.
 *
 * Decision: docs/decisions/0061-verified-senders.md
 */
import { createHmac, hash, type KeyObject, timingSafeEqual } from "node:crypto"
import { headerText } from "../text/HeaderText.ts"
import { binaryKey } from "./HmacKey.ts"
import type { HmacRecipe, LocalRecipe, Place, PlainRecipe, SignedPart, TimestampForm, ValueForm } from "./Recipe.ts"
import { bodyFields, type FieldReader, queryParameter, type RequestHeaders } from "./RequestFields.ts"
import { Context } from "effect"

/** Counts requests that were refused because their sender could not be verified, for the operator. */
export class RefusedSignatures extends Context.Service<
  RefusedSignatures,
  {
    /** Returns at once; the count is stored soon. */
    readonly count: (sourceId: number, reason: RefusalReason) => void
  }
>()("@data-cabinet/core/verification/RefusedSignatures") {}

/** A request as it was signed. */
export interface SignedRequest {
  readonly headers: RequestHeaders
  /** With its content encoding removed. */
  readonly body: Uint8Array
  /** The public address, from the cabinet's base address and never from `Host`, with the query as sent. */
  readonly url: string
}

/** The secrets, and the current time. */
export interface VerifyingOptions {
  /** The valid secrets: two while one replaces the other. */
  readonly secrets: ReadonlyArray<string>
  /** In seconds since 1970. */
  readonly now: number
}

/** Why a sender is not verified. */
export const REFUSAL_REASONS = ["no_signature", "bad_signature", "old_timestamp"] as const
/** One of `REFUSAL_REASONS`. */
export type RefusalReason = (typeof REFUSAL_REASONS)[number]

/** Whether the sender is verified, and why not. */
export type Verdict = { readonly verified: true } | { readonly verified: false; readonly reason: RefusalReason }

/** The most signatures of a header that are checked. */
const MAX_SIGNATURES = 8

const refused = (reason: RefusalReason): Verdict => ({ verified: false, reason })

export const verifySender = (recipe: LocalRecipe, request: SignedRequest, options: VerifyingOptions): Verdict =>
  recipe.kind === "plain" ? verifyPlain(recipe, request, options) : verifyHmac(recipe, request, options)

const headerOf = ({ headers }: SignedRequest, names: ReadonlyArray<string> = []): string | undefined => {
  for (const name of names) {
    const value = headers[name]
    if (typeof value === "string" && value !== "") return value
  }
  return undefined
}

/** Texts of different lengths take the same time to compare. */
export const equalTexts = (a: string, b: string): boolean =>
  timingSafeEqual(hash("sha256", a, "buffer"), hash("sha256", b, "buffer"))

const valueAt = ({ header, query, field }: Place, request: SignedRequest): string | undefined => {
  if (header !== undefined) return headerOf(request, [header])
  const value = query === undefined ? bodyFields(request)(field ?? "") : queryParameter(request.url, query)
  return value === "" ? undefined : value
}

const verifyPlain = ({ at, form }: PlainRecipe, request: SignedRequest, { secrets }: VerifyingOptions): Verdict => {
  const value = valueAt(at, request)
  if (value === undefined) return refused("no_signature")
  const text = at.header === undefined ? value : headerText(value)
  const shown = form === "value" ? text : credentialsOf(form, value)
  if (shown === undefined) return refused("bad_signature")
  let found = false
  for (const secret of secrets) if (secret !== "" && equalTexts(shown, secret)) found = true
  return found ? { verified: true } : refused("bad_signature")
}

const credentialsOf = (scheme: "basic" | "bearer", value: string): string | undefined => {
  const space = value.indexOf(" ")
  if (value.slice(0, Math.max(space, 0)).toLowerCase() !== scheme) return undefined
  const credentials = value.slice(space + 1).trim()
  return scheme === "bearer" ? headerText(credentials) : Buffer.from(credentials, "base64").toString("utf8")
}

const verifyHmac = (recipe: HmacRecipe, request: SignedRequest, { secrets, now }: VerifyingOptions): Verdict => {
  const { signature, timestamp } = recipe
  const fields = bodyFields(request)
  const value = headerOf(request, signature.headers) ?? fieldOf(fields, signature.fields)
  if (value === undefined) return refused("no_signature")
  const parts = signature.separator === null ? [value] : value.split(signature.separator).map((part) => part.trim())
  const sent = (form: ValueForm | undefined) =>
    form === undefined ? undefined : sentValue(form, request, fields, parts)
  const time = sent(timestamp)
  const seconds = timestamp === undefined || time === undefined ? undefined : secondsIn(time, timestamp)
  const id = sent(recipe.id)
  if ((timestamp !== undefined && seconds === undefined) || (recipe.id !== undefined && id === undefined)) {
    return refused("no_signature")
  }
  const signed = recipe.signed.map((part) => signedOf(part, request, { time, id, fields }))
  if (signed.includes(undefined)) return refused("no_signature")
  const signatures = parts
    .filter((part) => part.startsWith(signature.prefix))
    .slice(0, MAX_SIGNATURES)
    .map((part) => bytesOf(part.slice(signature.prefix.length), signature.encoding))
  let found = false
  for (const secret of secrets) {
    const key = keyOf(recipe, secret)
    if (key === undefined) continue
    const digest = createHmac(recipe.algorithm, key)
    for (const part of signed) digest.update(part ?? "")
    const expected = digest.digest()
    for (const one of signatures) {
      if (one !== undefined && one.length === expected.length && timingSafeEqual(one, expected)) found = true
    }
  }
  if (!found || !isWholeBody(recipe, request)) return refused("bad_signature")
  // After the signature: a forgery learns nothing about times.
  if (timestamp === undefined || seconds === undefined) return { verified: true }
  return Math.abs(now - seconds) <= timestamp.toleranceSeconds ? { verified: true } : refused("old_timestamp")
}

const fieldOf = (fields: FieldReader, names: ReadonlyArray<string> = []): string | undefined => {
  for (const name of names) {
    const value = fields(name)
    if (value !== undefined && value !== "") return value
  }
  return undefined
}

const sentValue = (
  { headers, fields: names, prefix }: ValueForm,
  request: SignedRequest,
  fields: FieldReader,
  parts: ReadonlyArray<string>,
): string | undefined => {
  if (prefix !== undefined) {
    const value = parts.find((part) => part.startsWith(prefix))?.slice(prefix.length)
    return value === "" ? undefined : value
  }
  return headerOf(request, headers) ?? fieldOf(fields, names)
}

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/

/** The seconds since 1970 of a time; undefined if the text is not a time. */
const secondsIn = (text: string, { form }: TimestampForm): number | undefined => {
  if (/^[0-9]{1,12}$/.test(text)) return Number(text)
  if (form !== "any") return undefined
  if (/^[1-9][0-9]{12}$/.test(text)) return Number(text) / 1000
  const millis = RFC_3339.test(text) ? Date.parse(text.replace(" ", "T").toUpperCase()) : Number.NaN
  return Number.isNaN(millis) ? undefined : millis / 1000
}

/** Undefined for a malformed signature, which Node would read in part. base64 may have the alphabet of URLs. */
const bytesOf = (text: string, encoding: "hex" | "base64"): Buffer | undefined => {
  if (encoding === "hex") return /^(?:[0-9a-fA-F]{2}){1,64}$/.test(text) ? Buffer.from(text, "hex") : undefined
  if (!/^(?:[0-9A-Za-z+/]{2,128}|[\w-]{2,128})={0,2}$/.test(text)) return undefined
  const bytes = Buffer.from(text, "base64")
  // Several base64 texts can encode the same bytes; only one of them is accepted, with or without padding.
  return bytes.toString("base64").startsWith(text.replaceAll("-", "+").replaceAll("_", "/")) ? bytes : undefined
}

/** A text unchanged: Node takes four times as long with a key of bytes. */
const keyOf = ({ secret: form }: HmacRecipe, secret: string): string | KeyObject | undefined => {
  // An empty key would accept every sender.
  if (form === "text") return secret === "" ? undefined : secret
  const key = binaryKey(secret)
  return key.symmetricKeySize === 0 ? undefined : key
}

interface Signed {
  readonly time: string | undefined
  readonly id: string | undefined
  readonly fields: FieldReader
}

/** Undefined for a field that the request does not have. */
const signedOf = (part: SignedPart, request: SignedRequest, { time, id, fields }: Signed) => {
  if (typeof part === "object") return "text" in part ? part.text : fieldOf(fields, part.fields)
  switch (part) {
    case "body":
      return request.body
    case "id":
      return id ?? ""
    case "timestamp":
      return time ?? ""
    case "url":
      return request.url
    case "url_with_parameters":
      return request.url + (isForm(request.headers) && !hasBodyHash(request) ? sortedParameters(request.body) : "")
  }
}

const FORM_TYPE = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i

/** Whether the headers declare a form without files. */
export const isForm = (headers: RequestHeaders): boolean => FORM_TYPE.test(headers["content-type"] ?? "")

/** Sorts names with their values; different values of a repeated name are sorted by value. */
const sortedParameters = (body: Uint8Array): string => {
  const values = new Map<string, Set<string>>()
  for (const [name, value] of new URLSearchParams(Buffer.from(body).toString("utf8"))) {
    const all = values.get(name)
    if (all === undefined) values.set(name, new Set([value]))
    else all.add(value)
  }
  let text = ""
  for (const name of [...values.keys()].sort()) for (const value of [...values.get(name)!].sort()) text += name + value
  return text
}

const bodyHash = ({ url }: SignedRequest): string | null =>
  URL.canParse(url) ? new URL(url).searchParams.get("bodySHA256") : null

const hasBodyHash = (request: SignedRequest): boolean => bodyHash(request) !== null

/** For a body that is not a form, Twilio signs the address alone, which has the body's SHA-256. */
const isWholeBody = ({ signed }: HmacRecipe, request: SignedRequest): boolean => {
  if (!signed.includes("url_with_parameters")) return true
  const said = bodyHash(request)
  if (said === null) return isForm(request.headers) || request.body.length === 0
  return equalTexts(said.toLowerCase(), hash("sha256", request.body))
}
