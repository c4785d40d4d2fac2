/**
 * How a sender signs its requests, as data: what is signed, with what, and where the signature stands. Names of headers are in
 * lower case.
 */

/** A part of the text that is signed: a value of the request, or a text that stands there as it is. */
export type SignedPart = "body" | "id" | "timestamp" | "url" | "url_with_parameters" | { readonly text: string }

export interface SignatureForm {
  /** The first of these headers that the request has. */
  readonly headers: ReadonlyArray<string>
  readonly encoding: "hex" | "base64"
  /** What divides several signatures of one header; null: it has one. */
  readonly separator: string | null
  /** What a signature begins with, such as `sha256=`; others are ignored. */
  readonly prefix: string
}

export interface TimestampForm {
  /** Where it stands: in a header, or among the parts of the signature's header with this beginning, such as `t=`. */
  readonly headers?: ReadonlyArray<string>
  readonly prefix?: string
  /** How far it may be from now, in either direction. */
  readonly toleranceSeconds: number
}

export interface HmacRecipe {
  readonly kind: "hmac"
  readonly algorithm: "sha1" | "sha256" | "sha512"
  readonly signed: ReadonlyArray<SignedPart>
  readonly signature: SignatureForm
  readonly timestamp?: TimestampForm
  /** The headers that hold the number of the message, if that is signed. */
  readonly idHeaders?: ReadonlyArray<string>
  /** `whsec`: the key is base64 behind an optional `whsec_`. */
  readonly secret: "text" | "whsec"
}

/** The request proves itself by the secret as it is. */
export interface PlainRecipe {
  readonly kind: "plain"
  readonly header: string
  /** `basic`: the secret is `name:password`. */
  readonly form: "value" | "bearer" | "basic"
}

export type Recipe = HmacRecipe | PlainRecipe

export const HMAC_ALGORITHMS = ["sha1", "sha256", "sha512"] as const satisfies ReadonlyArray<HmacRecipe["algorithm"]>
export const SIGNATURE_ENCODINGS = ["hex", "base64"] as const satisfies ReadonlyArray<SignatureForm["encoding"]>

/** How a sender signs that has no recipe of its own. */
export interface HmacParameters {
  /** Where the signature stands. */
  readonly header: string
  readonly algorithm: HmacRecipe["algorithm"]
  readonly encoding: SignatureForm["encoding"]
  /** What the signature begins with. */
  readonly prefix: string
  /** Where the seconds since 1970 stand that are signed with the body; null: the body alone is signed. */
  readonly timestampHeader: string | null
  /** How far they may be from now. */
  readonly toleranceSeconds: number
}
