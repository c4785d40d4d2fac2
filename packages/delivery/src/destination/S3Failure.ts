/** Why S3 refused a request, in its own code and words, and what to do about the refusals that a setting can mend. */
import type { S3Credentials } from "@data-cabinet/core/destination/S3Settings"
import type { ResponseHead } from "../outgoing/Exchange.ts"
import type { WholeResponse } from "../outgoing/Sending.ts"
import { Schema } from "effect"

/** Why a bucket did not do what was requested, in words for the operator. */
export class S3Failure extends Schema.TaggedError<S3Failure>()("S3Failure", {
  message: Schema.String,
  /** The status of the response; null without one. */
  status: Schema.NullOr(Schema.Int),
  /** The service's own code; null without one. */
  code: Schema.NullOr(Schema.String),
}) {}

/** What completes "change it …", for the settings of a bucket and for its credentials. */
export interface S3Advice {
  readonly settings: string
  readonly credentials: string
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

const decodeXml = (text: string): string =>
  text.replaceAll(/&(?:#(\d{1,6})|#x([0-9a-fA-F]{1,5})|(amp|lt|gt|quot|apos));/g, (_, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[String(name)]!
    const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal)
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : ""
  })

/** The texts of the elements with this name, which have no elements inside. */
export const elements = (xml: string, name: string): ReadonlyArray<string> =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, text]) => decodeXml(text!))

const MAX_WORDS = 300

/** The first element's text on one line, without the credentials; null without one. */
const said = (xml: string, name: string, { secretAccessKey, accessKeyId, sessionToken }: S3Credentials) => {
  const [text] = elements(xml, name)
  if (text === undefined) return null
  const secrets = [secretAccessKey, accessKeyId, ...(sessionToken === null ? [] : [sessionToken])]
  const clean = secrets.reduce((words, secret) => words.replaceAll(secret, "…"), text)
  return clean
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .slice(0, MAX_WORDS)
}

const headerOf = ({ headers }: ResponseHead, name: string): string | null => {
  const value = headers[name]
  return typeof value === "string" ? value : null
}

/** How far the service's clock is from this machine's, in whole seconds. */
const skewOf = (response: ResponseHead, now: number): number =>
  Math.round((Date.parse(headerOf(response, "date") ?? "") - now) / 1000)

/** What the operator can do; null if it is only waited for. */
const advice = (code: string, region: string | null, skew: number, how: S3Advice): string | null => {
  switch (code) {
    case "PermanentRedirect":
    case "TemporaryRedirect":
    case "AuthorizationHeaderMalformed":
    case "IllegalLocationConstraintException":
      return region === null
        ? `The bucket is at another endpoint or in another region: change them ${how.settings}.`
        : `The bucket is in the region ${region}: change it ${how.settings}.`
    case "RequestTimeTooSkewed":
      return Number.isNaN(skew) || skew === 0
        ? "Set the clock of this machine."
        : `The clock of this machine is ${Math.abs(skew)} seconds ${skew > 0 ? "slow" : "fast"}: set it.`
    case "NoSuchBucket":
      return "Create the bucket, or correct its name."
    case "ExpiredToken":
    case "InvalidAccessKeyId":
    case "SignatureDoesNotMatch":
    case "InvalidToken":
      return `Give its credentials again ${how.credentials}.`
    default:
      return null
  }
}

/** Codes of responses that have no body that says more. */
const STATUS_CODES: Readonly<Record<number, string>> = {
  301: "PermanentRedirect",
  307: "TemporaryRedirect",
}

/** A response that is not a success. `act`: what was refused, such as `to write a file`. */
export const s3Failure = (
  act: string,
  response: WholeResponse,
  credentials: S3Credentials,
  now: number,
  how: S3Advice,
): S3Failure => {
  const xml = Buffer.from(response.body).toString("utf8")
  const code = said(xml, "Code", credentials) ?? STATUS_CODES[response.status] ?? null
  const message = said(xml, "Message", credentials)
  const region = headerOf(response, "x-amz-bucket-region") ?? said(xml, "Region", credentials)
  const words = [code, message].filter((part) => part !== null && part !== "").join(": ")
  const mend = advice(code ?? "", region === null ? null : region.slice(0, 50), skewOf(response, now), how)
  const reason = words === "" ? `the response ${response.status}` : `${response.status} ${words.replace(/\.$/, "")}`
  return new S3Failure({
    message: `The bucket refused ${act}: ${reason}.${mend === null ? "" : ` ${mend}`}`,
    status: response.status,
    code,
  })
}
