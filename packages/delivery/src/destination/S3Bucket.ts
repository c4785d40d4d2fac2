/**
 * A bucket of S3, or of an S3-compatible service: what destinations and the files of old events need of one. Each request is signed,
 * sent by the pinned client, and ends by a deadline. None is conditional, and none is in parts.
 *
 * Decision: docs/decisions/0101-buckets-are-written-by-one-put.md
 */
import { bucketUrl, parseS3, type S3Credentials, type S3Settings } from "@data-cabinet/core/destination/S3Settings"
import { Clock, Effect } from "effect"
import type { PinnedClient } from "../outgoing/PinnedClient.ts"
import type { WholeResponse } from "../outgoing/Sending.ts"
import { elements, type S3Advice, S3Failure, s3Failure } from "./S3Failure.ts"
import { signedHeaders, type UnsignedRequest, uriEncode } from "./SignatureV4.ts"

/** Where a bucket is, and how it is reached. */
export interface BucketPlace extends S3Settings {
  /** `s3://BUCKET/PREFIX`, which is valid. */
  readonly location: string
  readonly credentials: S3Credentials
  readonly advice: S3Advice
}

/** A page of a list, in the order of the names. */
export interface BucketPage {
  readonly names: ReadonlyArray<string>
  /** The token of the next page; null for the last. */
  readonly next: string | null
}

/** A part of an object. */
export interface ObjectPart {
  readonly bytes: Uint8Array
  /** The size of the whole object. */
  readonly size: number
}

type Returns<A> = Effect.Effect<A, S3Failure>

/** Names are of objects below the prefix. */
export interface S3Bucket {
  /** The next page of names, with the given parameters of ListObjectsV2. A prefix is one below the bucket's. */
  readonly page: (parameters: Readonly<Record<string, string>>) => Returns<BucketPage>
  readonly put: (name: string, body: Uint8Array, contentType: string, deadlineMillis?: number) => Returns<void>
  /** Bytes from `start` up to `end`, or the last ones if `start` is negative: all, if there are fewer. */
  readonly get: (name: string, start: number, end?: number) => Returns<ObjectPart>
  /** An object that does not exist is removed already. */
  readonly remove: (name: string) => Returns<void>
}

/** The longest wait for a response. */
const DEADLINE_MILLIS = 14_000

/** The same for a part of an object, because a person or a program waits for it. */
const READ_MILLIS = 4_000

/** More than the longest page of a list. */
const LIST_BYTES = 4 * 1_048_576
const ERROR_BYTES = 65_536

/** How many objects are listed at a time. */
const PAGE = 1_000

const fail = (message: string) => Effect.fail(new S3Failure({ message, status: null, code: null }))

/** Null for a page that is not complete. */
const parsePage = (response: WholeResponse, folder: string): BucketPage | null => {
  const xml = Buffer.from(response.body).toString("utf8")
  if (!/<\/ListBucketResult>\s*$/.test(xml)) return null
  const keys = elements(xml, "Key")
  const isCut = elements(xml, "IsTruncated")[0] === "true"
  const [next] = elements(xml, "NextContinuationToken")
  if (isCut && next === undefined) return null
  const names = keys.filter((key) => key.startsWith(folder)).map((key) => key.slice(folder.length))
  return { names, next: isCut ? next! : null }
}

/** The size of the whole object, of which these bytes are a part; null if the response does not say so. */
const sizeIn = ({ status, headers, body }: WholeResponse): number | null => {
  if (status === 200) return body.length
  const [, first, last, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(String(headers["content-range"])) ?? []
  return size !== undefined && Number(last) - Number(first) + 1 === body.length ? Number(size) : null
}

/** Sends signed requests; anything but a success is a failure. */
const sender = (client: PinnedClient["Service"], { credentials, advice, region }: BucketPlace) =>
  Effect.fnUntraced(function* (
    act: string,
    request: UnsignedRequest & { readonly method: "GET" | "PUT" | "DELETE" },
    readBytes: number,
    deadlineMillis = DEADLINE_MILLIS,
  ) {
    const now = yield* Clock.currentTimeMillis
    const { method, url, body } = request
    const headers = signedHeaders(request, { credentials, region: region ?? "us-east-1", at: new Date(now) })
    const response = yield* client
      .send({
        method,
        url,
        headers,
        ...(method === "PUT" ? { body } : {}),
        deadlineMillis,
        bodyMillis: deadlineMillis,
        readBytes,
        keepBytes: readBytes,
      })
      .pipe(Effect.catch(({ message }) => fail(`The bucket was not reached at ${url.origin}: ${message}.`)))
    return response.status >= 200 && response.status <= 299
      ? response
      : yield* Effect.fail(s3Failure(act, response, credentials, yield* Clock.currentTimeMillis, advice))
  })

export const s3Bucket = (client: PinnedClient["Service"], place: BucketPlace): S3Bucket => {
  const { bucket, prefix } = parseS3(place.location)!
  const folder = prefix.map((name) => `${name}/`).join("")
  const base = bucketUrl(bucket, place)
  const urlOf = (name: string) => new URL(`${base}/${folder}${name}`)
  const send = sender(client, place)

  return {
    page: Effect.fnUntraced(function* ({ prefix: begin = "", ...parameters }) {
      const query = {
        "list-type": "2",
        "max-keys": String(PAGE),
        delimiter: "/",
        prefix: `${folder}${begin}`,
        ...parameters,
        ...("start-after" in parameters ? { "start-after": `${folder}${parameters["start-after"]}` } : {}),
      }
      // Encoded as it is signed: a plus sign would be read differently.
      const search = Object.entries(query).map(([name, value]) => `${uriEncode(name)}=${uriEncode(value)}`)
      const url = new URL(`${base}/?${search.join("&")}`)
      const response = yield* send("to list its objects", { method: "GET", url, body: new Uint8Array() }, LIST_BYTES)
      const parsed = parsePage(response, folder)
      return parsed ?? (yield* fail("The bucket responded with an incomplete list of its objects."))
    }),
    put: (name, body, contentType, deadlineMillis) =>
      Effect.asVoid(
        send(
          "to write a file",
          { method: "PUT", url: urlOf(name), headers: { "content-type": contentType }, body },
          ERROR_BYTES,
          deadlineMillis,
        ),
      ),
    get: Effect.fnUntraced(function* (name, start, end) {
      const length = start < 0 ? -start : end! - start
      const range = start < 0 ? `bytes=${start}` : `bytes=${start}-${end! - 1}`
      const request = { method: "GET", url: urlOf(name), headers: { range }, body: new Uint8Array() } as const
      const response = yield* send("to read a file", request, Math.max(length, ERROR_BYTES) + 1, READ_MILLIS)
      const size = sizeIn(response)
      const { body: bytes } = response
      if (size === null || bytes.length > length || (start >= 0 && bytes.length < length)) {
        return yield* fail(`The bucket responded with ${bytes.length} bytes of a file instead of ${length}.`)
      }
      return { bytes, size }
    }),
    remove: (name) => {
      const request = { method: "DELETE", url: urlOf(name), body: new Uint8Array() } as const
      return send("to remove a file", request, ERROR_BYTES).pipe(
        Effect.asVoid,
        Effect.catchIf(
          ({ status, code }) => status === 404 && code !== "NoSuchBucket",
          () => Effect.void,
        ),
      )
    },
  }
}
