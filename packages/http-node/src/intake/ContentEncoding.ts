/**
 * Decodes a body's content encoding, and stops as soon as the decoded body exceeds the limit: a decompression bomb is never
 * unpacked.
 */
import { IntakeError } from "@data-cabinet/core/intake/IntakeError"
import { Result } from "effect"
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib"
import { tooLarge } from "./BodyReadError.ts"

/** The body to parse. If the encoding was broken, `undecodable` is the reason in words and `body` is as received. */
export interface DecodedContent {
  readonly body: Uint8Array
  readonly undecodable: string | null
}

/** Decodes one coding. */
type Coding = (body: Uint8Array, limit: number) => Promise<Result.Result<Uint8Array, IntakeError | Corrupt>>

interface Corrupt {
  readonly _tag: "Corrupt"
  readonly reason: string
}

type Decompress = (
  body: Uint8Array,
  options: { readonly maxOutputLength: number },
  done: (error: NodeJS.ErrnoException | null, result: Buffer) => void,
) => void

const decompressing =
  (name: string, decompress: (body: Uint8Array) => Decompress): Coding =>
  (body, limit) =>
    new Promise((resolve) =>
      decompress(body)(body, { maxOutputLength: limit }, (error, result) =>
        resolve(
          error === null
            ? Result.succeed(result)
            : error.code === "ERR_BUFFER_TOO_LARGE"
              ? Result.fail(tooLarge(limit))
              : Result.fail({ _tag: "Corrupt", reason: `The body is not valid ${name}: ${error.message}` }),
        ),
      ),
    )

// In RFC 9110 `deflate` is the zlib format; some senders omit its two header bytes.
const hasZlibHeader = (body: Uint8Array): boolean => {
  const [first = 0, second = 0] = body
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0
}

const gzip = decompressing("gzip", () => gunzip)

const CODINGS: ReadonlyMap<string, Coding> = new Map([
  ["gzip", gzip],
  ["x-gzip", gzip],
  ["deflate", decompressing("deflate", (body) => (hasZlibHeader(body) ? inflate : inflateRaw))],
  ["br", decompressing("br", () => brotliDecompress)],
])

/** The codings of a `Content-Encoding` header, in the order in which they are decoded. Refuses unknown codings. */
export const codingsOf = (header: string | undefined): Result.Result<ReadonlyArray<Coding>, IntakeError> => {
  if (header === undefined) return NO_CODINGS
  const codings: Array<Coding> = []
  for (const token of header.split(",")) {
    const name = token.trim().toLowerCase()
    if (name === "" || name === "identity") continue
    const coding = CODINGS.get(name)
    if (coding === undefined || codings.length === MAX_CODINGS) return Result.fail(unsupported())
    codings.unshift(coding)
  }
  return Result.succeed(codings)
}

/** The body as it was before its sender encoded it. A body of no bytes was not encoded, whatever its header says. */
export const decodeContent = async (
  received: Uint8Array,
  codings: ReadonlyArray<Coding>,
  limit: number,
): Promise<Result.Result<DecodedContent, IntakeError>> => {
  let body = received
  if (received.byteLength > 0) {
    for (const coding of codings) {
      const decoded = await coding(body, limit)
      if (Result.isSuccess(decoded)) body = decoded.success
      else if (decoded.failure._tag === "IntakeError") return Result.fail(decoded.failure)
      else return Result.succeed({ body: received, undecodable: decoded.failure.reason })
    }
  }
  return Result.succeed({ body, undecodable: null })
}

const NO_CODINGS: Result.Result<ReadonlyArray<Coding>> = Result.succeed([])

/** More codings than this on one body are an attack, not a use. */
const MAX_CODINGS = 2

const unsupported = () =>
  new IntakeError({
    code: "unsupported_encoding",
    message: "Unsupported content encoding: use gzip, deflate, br, or none",
  })
