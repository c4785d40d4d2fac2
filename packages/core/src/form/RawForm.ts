/** A form before decoding. Its parts are offsets in one run of bytes until the charset of each value is known. */
import type { TransferEncoding } from "./TransferEncoding.ts"

/**
 * A form with more fields was not filled in by a person; such a body is kept whole as `_raw`. A repeated name counts each
 * time.
 */
export const MAX_FORM_FIELDS = 10_000

/** A field of a form, as offsets of its name and value. */
export interface RawField {
  readonly nameStart: number
  readonly nameEnd: number
  readonly valueStart: number
  readonly valueEnd: number
  /** Properties of a field that only a multipart body has. */
  readonly part: RawPart | null
}

/** The metadata of a multipart field. */
export interface RawPart {
  /** The `charset` of the part's own content type. */
  readonly charset: string | null
  /** The text of `name*`, which declares its own charset, for a part without `name`. */
  readonly name: string | null
  readonly file: RawFile | null
  /** Only for a part that declares a transfer encoding. */
  readonly encoded?: EncodedValue
}

/** A value of a part that declares a transfer encoding. */
export interface EncodedValue {
  /** The offsets of the value as sent. */
  readonly start: number
  readonly end: number
  /** The offsets of the value of the field, which is the value as sent if that cannot be decoded. */
  readonly value: { readonly start: number; readonly end: number }
  /** The encoding that was removed. */
  readonly encoding: TransferEncoding | null
  /** Why the field has the value as sent, in words; null if it was decoded. */
  readonly fault: string | null
}

/** The metadata of an uploaded file. */
export interface RawFile {
  /** The offsets of the value of `filename`, or the text of `filename*`, which declares its own charset. */
  readonly name: { readonly start: number; readonly end: number } | string
  readonly type: string
}

export interface RawForm {
  /**
   * The body, followed by the decoded values of parts that declare a transfer encoding. Separators are ASCII, so the parts of
   * valid UTF-8 are valid UTF-8 themselves.
   */
  readonly bytes: Buffer
  readonly fields: ReadonlyArray<RawField>
  /** Why reading ended early, and where; null for a form that was read completely. */
  readonly unread: Unread | null
}

/** Offsets are in bytes of the body. */
export interface Unread {
  readonly reason: string
  /** Where the error is. */
  readonly offset: number
  /** The part of the body that is not in `fields`. */
  readonly from: number
  readonly to: number
}

/** The result for a form with too many fields: nothing is read as fields. */
export const tooManyFields = (bytes: Buffer, offset: number, limit: number): RawForm => ({
  bytes,
  fields: [],
  unread: { reason: `more than ${limit} form fields`, offset, from: 0, to: bytes.length },
})
