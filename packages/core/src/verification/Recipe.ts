/**
 * How a sender signs its requests, as data: the signed parts, the algorithm, and the place of the signature. Names of
 * headers are in lower case.
 */

/** A part of the signed text: a value of the request, or a literal text. */
export type SignedPart = "body" | "id" | "timestamp" | "url" | "url_with_parameters" | { readonly text: string }

export interface SignatureForm {
  /** The first of these headers that the request has. */
  readonly headers: ReadonlyArray<string>
  readonly encoding: "hex" | "base64"
  /** The separator of several signatures in one header; null: it has one. */
  readonly separator: string | null
  /** The beginning of a signature, such as `sha256=`; others are ignored. */
  readonly prefix: string
}

export interface TimestampForm {
  /** Its place: a header, or the part of the signature header that begins with this, such as `t=`. */
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
  /** `whsec`: the key is base64 after an optional `whsec_`. */
  readonly secret: "text" | "whsec"
}

/** Where a value is in a request. Exactly one member is there. */
export interface Place {
  /** The name of a header. */
  readonly header?: string
  /** A parameter of the query. */
  readonly query?: string
  /** A field of the body: of a form its name, of a JSON object a name or a path of names with dots between them. */
  readonly field?: string
}

/** The request contains the secret itself. */
export interface PlainRecipe {
  readonly kind: "plain"
  readonly at: Place
  /** `basic`: the secret is `name:password`. */
  readonly form: "value" | "bearer" | "basic"
}

export type Recipe = HmacRecipe | PlainRecipe

export const HMAC_ALGORITHMS = ["sha1", "sha256", "sha512"] as const satisfies ReadonlyArray<HmacRecipe["algorithm"]>
export const SIGNATURE_ENCODINGS = ["hex", "base64"] as const satisfies ReadonlyArray<SignatureForm["encoding"]>

/** How a sender without its own recipe signs. */
export interface HmacParameters {
  /** The header of the signature. */
  readonly header: string
  readonly algorithm: HmacRecipe["algorithm"]
  readonly encoding: SignatureForm["encoding"]
  /** The beginning of the signature. */
  readonly prefix: string
  /** The header with the seconds since 1970 that are signed together with the body; null: the body alone is signed. */
  readonly timestampHeader: string | null
  /** The greatest difference from the current time. */
  readonly toleranceSeconds: number
}
