/**
 * A form before anything in it is text. Its parts stay places in one run of bytes until the charset of all of them
 * together is known.
 */

/** More fields are no form that anybody filled in; such a body is kept whole as `_raw`. A repeated name counts each time. */
export const MAX_FORM_FIELDS = 10_000

export interface RawField {
  readonly nameStart: number
  readonly nameEnd: number
  readonly valueStart: number
  readonly valueEnd: number
  /** What only a multipart body can say of a field. */
  readonly part: RawPart | null
}

export interface RawPart {
  /** The `charset` of the part's own content type. */
  readonly charset: string | null
  readonly file: RawFile | null
}

export interface RawFile {
  /** The place of `filename`'s value, or the text of `filename*`, which says its charset itself. */
  readonly name: { readonly start: number; readonly end: number } | string
  readonly type: string
}

export interface RawForm {
  readonly bytes: Buffer
  readonly fields: ReadonlyArray<RawField>
  /** The bytes that tell the charset: names, values and file names, apart from each other, without the files' content. */
  readonly evidence: Buffer
  /** Why reading ended early, and where; null for a form that was read whole. */
  readonly unread: Unread | null
}

/** Offsets count bytes of the body. */
export interface Unread {
  readonly reason: string
  /** Where the fault lies. */
  readonly offset: number
  /** From here on the body is not in `fields`. */
  readonly from: number
}

/** What a form becomes that holds too many fields: nothing of it is taken for fields. */
export const tooManyFields = (bytes: Buffer, offset: number, limit: number): RawForm => ({
  bytes,
  fields: [],
  evidence: bytes,
  unread: { reason: `more than ${limit} form fields`, offset, from: 0 },
})
