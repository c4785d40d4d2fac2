/**
 * A destination in a bucket of S3, or of an S3-compatible service. A slice is one object, written by one request: it
 * appears whole or not at all, and a repeated one replaces itself. Nothing else is required of the service, in particular no
 * conditional requests.
 *
 * Decision: docs/decisions/0101-buckets-are-written-by-one-put.md
 */
import { setImmediate } from "node:timers/promises"
import {
  DestinationFailure,
  type DestinationPlace,
  type FeedSlice,
  type OpenDestination,
} from "@data-cabinet/core/destination/Destination"
import { bucketUrl, parseS3, type S3Credentials } from "@data-cabinet/core/destination/S3Settings"
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { comparePlaces } from "@data-cabinet/core/feed/FeedTrail"
import { Clock, Effect } from "effect"
import type { PinnedClient } from "../outgoing/PinnedClient.ts"
import type { WholeResponse } from "../outgoing/Sending.ts"
import { elements, s3Failure } from "./S3Failure.ts"
import { signedHeaders, type UnsignedRequest, uriEncode } from "./SignatureV4.ts"
import { type EncodeSlice, lastPlace, placeText, sliceName } from "./SliceName.ts"

/** Writing is bounded as a whole by the caller; this is for a service that does not respond. */
const DEADLINE_MILLIS = 14_000

/** More than the longest page of a list. */
const LIST_BYTES = 4 * 1_048_576

/** How many objects are listed at a time; and of the first ones, among which only files of other destinations are looked for. */
const PAGE = 1_000
const FIRST_PAGE = 100

const fail = (message: string) => Effect.fail(new DestinationFailure({ message }))

const CONTENT_TYPES = { ndjson: "application/x-ndjson", parquet: "application/vnd.apache.parquet" } as const

const bytesOf = (slice: FeedSlice, encode: EncodeSlice) =>
  Effect.tryPromise({
    try: async (signal) => {
      const pieces: Array<Uint8Array> = []
      for await (const piece of encode(slice)) {
        if (signal.aborted) break
        pieces.push(piece)
      }
      await setImmediate()
      return new Uint8Array(Buffer.concat(pieces))
    },
    catch: (error) => new DestinationFailure({ message: error instanceof Error ? error.message : String(error) }),
  })

/** A page of a list, in the order of the names. */
interface Page {
  readonly names: ReadonlyArray<string>
  /** The token of the next page; null for the last. */
  readonly next: string | null
}

/** Null for a page that is not complete. */
const parsePage = (response: WholeResponse, folder: string): Page | null => {
  const xml = Buffer.from(response.body).toString("utf8")
  if (!/<\/ListBucketResult>\s*$/.test(xml)) return null
  const keys = elements(xml, "Key")
  const isCut = elements(xml, "IsTruncated")[0] === "true"
  const [next] = elements(xml, "NextContinuationToken")
  if (isCut && next === undefined) return null
  const names = keys.filter((key) => key.startsWith(folder)).map((key) => key.slice(folder.length))
  return { names, next: isCut ? next! : null }
}

/** `place.credentials` are those that are used. */
export const s3Destination = (
  client: PinnedClient["Service"],
  place: DestinationPlace,
  credentials: S3Credentials,
  encode: EncodeSlice,
): OpenDestination => {
  const { bucket, prefix } = parseS3(place.location)!
  const folder = prefix.map((name) => `${name}/`).join("")
  const base = bucketUrl(bucket, place)
  const region = place.region ?? "us-east-1"

  const send = Effect.fnUntraced(function* (act: string, request: UnsignedRequest, readBytes: number) {
    const now = yield* Clock.currentTimeMillis
    const { method, url, body } = request
    const headers = signedHeaders(request, { credentials, region, at: new Date(now) })
    const response = yield* client
      .send({
        method: method === "PUT" ? "PUT" : "GET",
        url,
        headers,
        ...(method === "PUT" ? { body } : {}),
        deadlineMillis: DEADLINE_MILLIS,
        bodyMillis: DEADLINE_MILLIS,
        readBytes,
        keepBytes: readBytes,
      })
      .pipe(Effect.catch(({ message }) => fail(`The bucket was not reached at ${url.origin}: ${message}.`)))
    return response.status >= 200 && response.status <= 299
      ? response
      : yield* Effect.fail(s3Failure(act, response, credentials, yield* Clock.currentTimeMillis))
  })

  const page = Effect.fnUntraced(function* (parameters: Readonly<Record<string, string>>) {
    const query = { "list-type": "2", "max-keys": String(PAGE), delimiter: "/", prefix: folder, ...parameters }
    // Encoded as it is signed: a plus sign would be read differently.
    const search = Object.entries(query).map(([name, value]) => `${uriEncode(name)}=${uriEncode(value)}`)
    const url = new URL(`${base}/?${search.join("&")}`)
    const response = yield* send("to list its objects", { method: "GET", url, body: new Uint8Array() }, LIST_BYTES)
    const parsed = parsePage(response, folder)
    return parsed ?? (yield* fail("The bucket responded with a list of its objects that is not complete."))
  })

  const lastOf = (names: ReadonlyArray<string>) =>
    Effect.try({
      try: () => lastPlace(names, place.tag, "bucket"),
      catch: (error) => error as DestinationFailure,
    })

  const position = Effect.fnUntraced(function* (known: FeedPlace) {
    // Files of other destinations sort before these, or after them.
    const first = yield* page({ "max-keys": String(FIRST_PAGE) })
    let last = yield* lastOf(first.names)
    if (first.next !== null) {
      // Slices after the known place begin there, or after it.
      const after = `${folder}${place.tag}_${placeText(known)}`
      let token: string | null = null
      do {
        const start: Readonly<Record<string, string>> =
          token === null ? { "start-after": after } : { "continuation-token": token }
        const { names, next } = yield* page(start)
        const found = yield* lastOf(names)
        if (found !== null && (last === null || comparePlaces(found, last) > 0)) last = found
        if (next !== null && next === token) return yield* fail("The bucket gave the same page of a list twice.")
        token = next
      } while (token !== null)
    }
    return last !== null && comparePlaces(last, known) > 0 ? last : null
  })

  return {
    position,
    write: Effect.fnUntraced(function* (slice) {
      const body = yield* bytesOf(slice, encode)
      if (!slice.mayAppear()) return yield* fail("Writing a slice took longer than the lease of the destination.")
      const url = new URL(`${base}/${folder}${sliceName(place, slice)}`)
      const headers = { "content-type": CONTENT_TYPES[place.format] }
      yield* send("to write a file", { method: "PUT", url, headers, body }, 65_536)
    }),
  }
}
