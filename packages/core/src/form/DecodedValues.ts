/** Decodes the values of a multipart body that have a transfer encoding, and places them behind the body. */
import type { PartHeaders } from "./PartHeaders.ts"
import type { EncodedValue } from "./RawForm.ts"
import { withoutTransferEncoding } from "./TransferEncoding.ts"

export class DecodedValues {
  readonly #body: Buffer
  readonly #values: Array<Buffer> = []
  #end: number

  constructor(body: Buffer) {
    this.#body = body
    this.#end = body.length
  }

  /** A value that cannot be decoded keeps its place in the body. */
  add(start: number, end: number, encoding: NonNullable<PartHeaders["encoding"]>): EncodedValue {
    const asSent = (fault: string) => ({ start, end, value: { start, end }, encoding: null, fault })
    if (typeof encoding !== "string") {
      return asSent(`its Content-Transfer-Encoding "${encoding.unknown}" is unknown, at byte ${start} of the body`)
    }
    const value = withoutTransferEncoding(this.#body.subarray(start, end), encoding)
    if (!Buffer.isBuffer(value)) return asSent(`${value.reason}, at byte ${start + value.offset} of the body`)
    const place = { start: this.#end, end: this.#end + value.length }
    this.#values.push(value)
    this.#end = place.end
    return { start, end, value: place, encoding, fault: null }
  }

  /** The body, followed by the decoded values. */
  behindBody(): Buffer {
    return this.#values.length === 0 ? this.#body : Buffer.concat([this.#body, ...this.#values])
  }
}
