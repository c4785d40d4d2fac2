/**
 * A destination in a stream of NATS JetStream: one message for each event. Each is stored only as the next one after the last
 * known message of the stream, and says its place in the feed, so the stream itself says how far the destination has come. A
 * process that was stopped for longer than its lease is refused, because another message is the last one then.
 *
 * Decision: docs/decisions/0104-a-stream-gets-each-event-after-the-last-message.md
 */
import {
  DestinationFailure,
  type DestinationPlace,
  type FeedSlice,
  type OpenDestination,
} from "@data-cabinet/core/destination/Destination"
import { type NatsCredentials, parseNats, readBrokers } from "@data-cabinet/core/destination/NatsSettings"
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { comparePlaces } from "@data-cabinet/core/feed/FeedTrail"
import { Effect } from "effect"
import type { PinnedClient } from "../outgoing/PinnedClient.ts"
import { JetStream, type StreamMessage } from "./JetStream.ts"
import { natsConnection } from "./NatsConnection.ts"
import { placeText } from "./SliceName.ts"

/** How many messages are on their way at once. */
const IN_FLIGHT = 256

/** Written within a few seconds over a distant line. */
const MOST_EVENTS = 5_000

const HEADER = "Cabinet-Place"

const END = /^([0-9a-f]{8})_(\d{8,})\.(\d{20})\.(\d{16})$/
const SOURCE = /^\{"id":(\d+),"source":\{"id":(\d+)[,}]/

const failure = (message: string) => new DestinationFailure({ message })

interface KnownEnd {
  readonly sequence: number
  readonly place: FeedPlace | null
}

/** The end of the stream; fails if its last message is not of this destination. */
const readEnd = async (stream: JetStream, tag: string): Promise<KnownEnd> => {
  const { sequence, header } = await stream.end(HEADER)
  if (header === null) return { sequence, place: null }
  const [, of, epoch, xid, id] = END.exec(header) ?? []
  if (of !== tag) {
    const whose = of === undefined ? "another program" : "another destination"
    throw failure(
      `The stream has messages of ${whose}, such as its last one, ${sequence}. Give this destination a stream of its own.`,
    )
  }
  return { sequence, place: { epoch: Number(epoch), xid: BigInt(xid!), id: Number(id) } }
}

/** The messages of a slice that are after this place. */
const messagesOf = (
  { events, placeOf }: FeedSlice,
  { subject, tag, after }: { readonly subject: string; readonly tag: string; readonly after: FeedPlace | null },
  mostBytes: number,
): ReadonlyArray<StreamMessage> =>
  events.flatMap((items, page) =>
    items.texts().flatMap((text, index) => {
      const place = placeOf(page, index)
      if (after !== null && comparePlaces(place, after) <= 0) return []
      const [, id, source] = SOURCE.exec(text) ?? []
      if (source === undefined) throw new Error("An event does not begin with its id and its source")
      const key = `${tag}_${placeText(place)}`
      const message = { subject: `${subject}.${source}`, text, id: key, headers: { [HEADER]: key } }
      const bytes = Buffer.byteLength(text) + HEADER_BYTES
      if (bytes > mostBytes) {
        throw failure(
          `Event ${id} needs ${bytes} bytes, and the broker takes messages of ${mostBytes}: raise its max_payload.`,
        )
      }
      return [message]
    }),
  )

/** More than the headers of a message. */
const HEADER_BYTES = 500

/** The most bytes of a message, with its headers, unless the broker says otherwise. */
const DEFAULT_PAYLOAD = 1_048_576

const failureOf = (error: unknown): DestinationFailure =>
  error instanceof DestinationFailure ? error : failure(error instanceof Error ? error.message : String(error))

const attempt = <A>(work: (signal: AbortSignal) => Promise<A>) => Effect.tryPromise({ try: work, catch: failureOf })

/** Opens the destination of a place until the scope ends. */
export const natsDestination = Effect.fnUntraced(function* (
  client: PinnedClient["Service"],
  { location, endpoint, tag }: Pick<DestinationPlace, "location" | "endpoint" | "tag">,
  credentials: NatsCredentials | null,
) {
  const at = parseNats(location)!
  const brokers = readBrokers(endpoint ?? "")
  // Stored by a version that took more.
  if (typeof brokers === "string") return yield* failure(`${brokers} Give it again with cabinet destination set.`)
  const connection = yield* natsConnection(client, brokers, credentials)
  const stream = yield* Effect.promise(() => JetStream.open(connection, at.stream))
  const opened: OpenDestination = {
    mostEvents: MOST_EVENTS,
    position: (known) =>
      attempt(async () => {
        const { place } = await readEnd(stream, tag)
        return place !== null && comparePlaces(place, known) > 0 ? place : null
      }),
    write: (slice) =>
      attempt(async (signal) => {
        const { sequence, place } = await readEnd(stream, tag)
        const mostBytes = connection.info?.max_payload ?? DEFAULT_PAYLOAD
        const messages = messagesOf(slice, { subject: at.subject, tag, after: place }, mostBytes)
        const inFlight: Array<Promise<void>> = []
        for (const [n, message] of messages.entries()) {
          if (inFlight.length >= IN_FLIGHT) await inFlight.shift()
          if (signal.aborted || !slice.mayAppear()) {
            throw failure("Writing a slice took longer than the lease of the destination.")
          }
          const stored = stream.publish(message, sequence + n)
          // The first failure is the one that is waited for; those after it follow from it.
          stored.catch(() => {})
          inFlight.push(stored)
        }
        for (const stored of inFlight) await stored
      }),
  }
  return opened
})
