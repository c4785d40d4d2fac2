/** Decodes the content encoding of a request's body. An unknown encoding is refused; a broken one is kept as received. */
import { IntakeError } from "@data-cabinet/core/intake/IntakeError"
import {
  CODING_NAMES,
  type ContentCoding,
  contentCodings,
  unnamedCoding,
} from "@data-cabinet/core/network/ContentCoding"
import { Result } from "effect"
import { tooLarge } from "./BodyReadError.ts"

/** The body to parse. If the encoding was broken, `undecodable` is the reason in words and `body` is as received. */
export interface DecodedContent {
  readonly body: Uint8Array
  readonly undecodable: string | null
  /** If the body was decoded although no header named an encoding: its bytes as received. */
  readonly received?: Uint8Array
}

/** The codings of a `Content-Encoding` header, in the order in which they are decoded. Refuses unknown codings. */
export const codingsOf = (header: string | undefined): Result.Result<ReadonlyArray<ContentCoding>, IntakeError> => {
  if (header === undefined) return NO_CODINGS
  const codings = contentCodings(header)
  return codings === null ? Result.fail(unsupported()) : Result.succeed(codings)
}

/** Media types of data that is meant to be compressed: it is kept as it is. */
const COMPRESSED = /^application\/(?:octet-stream|.*(?:gzip|tar|compressed))/i

/**
 * Undoes the sender's encoding of the body. An empty body was not encoded, whatever its header says. Without a header, gzip
 * is recognized by its first bytes; if it turns out to be none, the body is parsed as received.
 */
export const decodeContent = async (
  received: Uint8Array,
  codings: ReadonlyArray<ContentCoding>,
  limit: number,
  contentType = "",
): Promise<Result.Result<DecodedContent, IntakeError>> => {
  let body = received
  if (received.byteLength > 0) {
    for (const decode of codings) {
      const decoded = await decode(body, limit)
      if (Result.isSuccess(decoded)) body = decoded.success
      else if (decoded.failure.code === "too_large") return Result.fail(tooLarge(limit))
      else return Result.succeed({ body: received, undecodable: decoded.failure.reason })
    }
  }
  const unnamed = codings.length > 0 || COMPRESSED.test(contentType) ? null : unnamedCoding(received)
  if (unnamed !== null) {
    const decoded = await unnamed(received, limit)
    if (Result.isSuccess(decoded)) return Result.succeed({ body: decoded.success, undecodable: null, received })
    if (decoded.failure.code === "too_large") return Result.fail(tooLarge(limit))
  }
  return Result.succeed({ body, undecodable: null })
}

const NO_CODINGS: Result.Result<ReadonlyArray<ContentCoding>> = Result.succeed([])

const unsupported = () =>
  new IntakeError({
    code: "unsupported_encoding",
    message: `Unsupported content encoding: use ${CODING_NAMES}, or none`,
  })
