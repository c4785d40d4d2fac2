/**
 * Signs a request to S3 by version 4 of Amazon's signatures. Every header that is given is signed, with the host, the time and
 * the hash of the body. Paths are signed as they are sent: S3 does not encode them twice.
 *
 * Decision: docs/decisions/0101-buckets-are-written-by-one-put.md
 */
import { createHmac, hash } from "node:crypto"
import type { S3Credentials } from "@data-cabinet/core/destination/S3Settings"

const ALGORITHM = "AWS4-HMAC-SHA256"

/** A request to be signed. */
export interface UnsignedRequest {
  readonly method: string
  /** With the path as it is sent. */
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** By whom, where and when. */
export interface SigningScope {
  readonly credentials: S3Credentials
  readonly region: string
  readonly at: Date
  /** Default: s3. */
  readonly service?: string
}

const hmac = (key: string | Uint8Array, text: string): Uint8Array => createHmac("sha256", key).update(text).digest()

/** Everything but letters of a to z, digits, hyphens, dots, underscores and tildes as %XX. */
export const uriEncode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

const byText = ([one]: readonly [string, string], [other]: readonly [string, string]) =>
  one < other ? -1 : one > other ? 1 : 0

const canonicalQuery = ({ searchParams }: URL): string =>
  [...searchParams]
    .map(([name, value]) => [uriEncode(name), uriEncode(value)] as const)
    .toSorted((one, other) => byText(one, other) || byText([one[1], ""], [other[1], ""]))
    .map(([name, value]) => `${name}=${value}`)
    .join("&")

/** `20130524T000000Z`. */
export const amzDate = (at: Date): string => at.toISOString().replaceAll(/[-:]|\.\d{3}/g, "")

/** The headers of the signed request, without its host. Names are in lower case. */
export const signedHeaders = (
  { method, url, headers = {}, body }: UnsignedRequest,
  { credentials, region, at, service = "s3" }: SigningScope,
): Readonly<Record<string, string>> => {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials
  const date = amzDate(at)
  const bodyHash = hash("sha256", body)
  const sent = {
    ...headers,
    "x-amz-content-sha256": bodyHash,
    "x-amz-date": date,
    ...(sessionToken === null ? {} : { "x-amz-security-token": sessionToken }),
  }
  const canonical = Object.entries({ ...sent, host: url.host })
    .map(([name, value]) => [name.toLowerCase(), value.trim().replaceAll(/ +/g, " ")] as const)
    .toSorted(byText)
  const names = canonical.map(([name]) => name).join(";")
  const request = [
    method,
    url.pathname,
    canonicalQuery(url),
    ...canonical.map(([name, value]) => `${name}:${value}`),
    "",
    names,
    bodyHash,
  ].join("\n")
  const scope = [date.slice(0, 8), region, service, "aws4_request"]
  const text = [ALGORITHM, date, scope.join("/"), hash("sha256", request)].join("\n")
  const key = scope.reduce<string | Uint8Array>(hmac, `AWS4${secretAccessKey}`)
  const signature = Buffer.from(hmac(key, text)).toString("hex")
  const authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope.join("/")},SignedHeaders=${names},Signature=${signature}`
  return { ...sent, authorization }
}
