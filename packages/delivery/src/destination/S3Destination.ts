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
import type { S3Credentials } from "@data-cabinet/core/destination/S3Settings"
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { comparePlaces } from "@data-cabinet/core/feed/FeedTrail"
import { Effect } from "effect"
import type { PinnedClient } from "../outgoing/PinnedClient.ts"
import { s3Bucket } from "./S3Bucket.ts"
import type { S3Failure } from "./S3Failure.ts"
import { type EncodeSlice, lastPlace, placeText, sliceName } from "./SliceName.ts"

/** How many objects are listed first, among which only files of other destinations are looked for. */
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

const failed = ({ message }: S3Failure) => fail(message)

const ADVICE = { settings: "with cabinet destination set", credentials: "with cabinet destination set" }

/** `place.credentials` are those that are used. */
export const s3Destination = (
  client: PinnedClient["Service"],
  place: DestinationPlace,
  credentials: S3Credentials,
  encode: EncodeSlice,
): OpenDestination => {
  const bucket = s3Bucket(client, { ...place, credentials, advice: ADVICE })

  const lastOf = (names: ReadonlyArray<string>) =>
    Effect.try({
      try: () => lastPlace(names, place.tag, "bucket"),
      catch: (error) => error as DestinationFailure,
    })

  const position = Effect.fnUntraced(
    function* (known: FeedPlace) {
      // Files of other destinations sort before these, or after them.
      const first = yield* bucket.page({ "max-keys": String(FIRST_PAGE) })
      let last = yield* lastOf(first.names)
      if (first.next !== null) {
        // Slices after the known place begin there, or after it.
        const after = `${place.tag}_${placeText(known)}`
        let token: string | null = null
        do {
          const start: Readonly<Record<string, string>> =
            token === null ? { "start-after": after } : { "continuation-token": token }
          const { names, next } = yield* bucket.page(start)
          const found = yield* lastOf(names)
          if (found !== null && (last === null || comparePlaces(found, last) > 0)) last = found
          if (next !== null && next === token) return yield* fail("The bucket gave the same page of a list twice.")
          token = next
        } while (token !== null)
      }
      return last !== null && comparePlaces(last, known) > 0 ? last : null
    },
    Effect.catchTag("S3Failure", failed),
  )

  return {
    position,
    write: Effect.fnUntraced(
      function* (slice) {
        const body = yield* bytesOf(slice, encode)
        if (!slice.mayAppear()) return yield* fail("Writing a slice took longer than the lease of the destination.")
        yield* bucket.put(sliceName(place, slice), body, CONTENT_TYPES[place.format])
      },
      Effect.catchTag("S3Failure", failed),
    ),
  }
}
