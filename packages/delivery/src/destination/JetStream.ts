/** What a destination needs of JetStream, and its refusals in words. */
import { DestinationFailure } from "@data-cabinet/core/destination/Destination"
import {
  jetstream,
  type JetStreamClient,
  JetStreamApiCodes,
  JetStreamApiError,
  jetstreamManager,
  type JetStreamManager,
} from "@nats-io/jetstream"
import { headers as newHeaders, type NatsConnection, RequestError } from "@nats-io/transport-node"

/** A request that is not answered within this time fails. */
const REQUEST_MILLIS = 5_000

const WRONG_SEQUENCE: ReadonlyArray<number> = [
  JetStreamApiCodes.StreamWrongLastSequence,
  JetStreamApiCodes.StreamWrongLastSequenceUnknown,
]

const failure = (message: string) => new DestinationFailure({ message })

/** Why a stream refused something, and what to do about it. */
const refusalText = (stream: string, { code, message }: JetStreamApiError): string => {
  if (code === JetStreamApiCodes.StreamNotFound) {
    return `The broker has no stream ${stream} (${message}): create it, or correct the destination.`
  }
  if (WRONG_SEQUENCE.includes(code)) {
    return `Another program or process wrote to the stream ${stream} meanwhile (${message}). A stream belongs to one destination.`
  }
  const full = /maximum|insufficient|resource/i.test(message)
    ? " Raise its limit, let it discard old messages, or purge it."
    : ""
  return `The stream ${stream} refused a message: ${code} ${message}.${full}`
}

/** Whether nobody listens to the subject of a request. */
const hasNoResponder = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof RequestError && error.cause.isNoResponders()

/** What the stream says about its end. */
export interface StreamEnd {
  readonly sequence: number
  /** The value of this header of the last message that is there: empty for a message without it, null without a message. */
  readonly header: string | null
}

/** A message to be stored. */
export interface StreamMessage {
  readonly subject: string
  readonly text: string
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
}

/** How many deleted messages at the end of a stream are passed. */
const MOST_DELETED = 100

/** A stream as a destination uses it. */
export class JetStream {
  readonly #stream: string
  readonly #publisher: JetStreamClient
  readonly #manager: JetStreamManager

  private constructor(stream: string, publisher: JetStreamClient, manager: JetStreamManager) {
    this.#stream = stream
    this.#publisher = publisher
    this.#manager = manager
  }

  /** Makes no request yet. */
  static async open(connection: NatsConnection, stream: string): Promise<JetStream> {
    const options = { timeout: REQUEST_MILLIS }
    const manager = await jetstreamManager(connection, { ...options, checkAPI: false })
    return new JetStream(stream, jetstream(connection, options), manager)
  }

  /**
   * The end of the stream. Its number is read before the message: if another writer comes in between, the number is too low,
   * and what is published after it is refused.
   */
  async end(header: string): Promise<StreamEnd> {
    const { first_seq: first, last_seq: sequence, messages } = await this.#state()
    if (messages === 0) return { sequence, header: null }
    for (let seq = sequence; seq >= first && seq > sequence - MOST_DELETED; seq--) {
      const found = await this.#message(seq)
      if (found !== null) return { sequence, header: found.header.get(header) }
    }
    throw failure(`The last ${MOST_DELETED} messages of the stream ${this.#stream} were deleted: purge it.`)
  }

  /** Stores a message as the next one after this number; fails if it is not the next, or not in this stream. */
  async publish({ subject, text, id, headers }: StreamMessage, after: number): Promise<void> {
    const own = newHeaders()
    for (const [name, value] of Object.entries(headers)) own.set(name, value)
    const { seq } = await this.#publisher
      .publish(subject, text, {
        msgID: id,
        headers: own,
        expect: { streamName: this.#stream, lastSequence: after },
        retries: 1,
      })
      .catch((error: unknown) => {
        throw hasNoResponder(error)
          ? failure(
              `The stream ${this.#stream} did not store a message: no stream takes the subject ${subject}; add it to the subjects of ${this.#stream}.`,
            )
          : this.#failed(error, "did not store a message")
      })
    // It was stored before, at another place.
    if (seq !== after + 1) {
      throw failure(`The stream ${this.#stream} stored a message as ${seq}, not as ${after + 1}.`)
    }
  }

  async #state() {
    const { state } = await this.#manager.streams.info(this.#stream).catch((error: unknown) => {
      throw this.#failed(error, "could not be read")
    })
    return state
  }

  /** The message with this number; null without one. The stream's leader responds, not a replica. */
  #message(seq: number) {
    return this.#manager.streams.getMessage(this.#stream, { seq }).catch((error: unknown) => {
      throw this.#failed(error, "could not be read")
    })
  }

  #failed(error: unknown, what: string): DestinationFailure {
    if (error instanceof JetStreamApiError) return failure(refusalText(this.#stream, error))
    const why = hasNoResponder(error)
      ? "no JetStream responds for this user"
      : error instanceof Error
        ? error.message
        : String(error)
    return failure(`The stream ${this.#stream} ${what}: ${why}.`)
  }
}
