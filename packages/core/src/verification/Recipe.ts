/**
 * How a sender signs its requests, as data: the signed parts, the algorithm, and the place of the signature. Names of
 * headers are in lower case.
 */
import * as Shape from "../json/Shape.ts"

/** A part of the signed text: a value of the request, or a literal text. */
export type SignedPart =
  | "body"
  | "id"
  | "timestamp"
  | "url"
  | "url_with_parameters"
  | { readonly text: string }
  | { readonly fields: ReadonlyArray<string> }

/** Where a value is: the first of these headers or fields that the request has, or a part of the signature header. */
export interface ValueForm {
  readonly headers?: ReadonlyArray<string>
  /** Of the body; of JSON also paths of names with dots between them. */
  readonly fields?: ReadonlyArray<string>
  /** The beginning of the part, such as `t=`. */
  readonly prefix?: string
}

/** Where the signature is, and how it is written. */
export interface SignatureForm {
  /** The first of these headers that the request has. */
  readonly headers: ReadonlyArray<string>
  /** The first of these fields of the body, if no header counts. */
  readonly fields?: ReadonlyArray<string>
  readonly encoding: "hex" | "base64"
  /** The separator of several signatures in one header; null: it has one. */
  readonly separator: string | null
  /** The beginning of a signature, such as `sha256=`; others are ignored. */
  readonly prefix: string
}

/** Where the timestamp is, and how far it may be from the current time. */
export interface TimestampForm extends ValueForm {
  /** `any`: also milliseconds, or a time of RFC 3339; otherwise seconds since 1970. */
  readonly form?: "any"
  /** How far it may be from now, in either direction. */
  readonly toleranceSeconds: number
}

/** The request is signed with an HMAC of the secret. */
export interface HmacRecipe {
  readonly kind: "hmac"
  readonly algorithm: "sha1" | "sha256" | "sha512"
  readonly signed: ReadonlyArray<SignedPart>
  readonly signature: SignatureForm
  readonly timestamp?: TimestampForm
  /** Where the number of the message is, if that is signed. */
  readonly id?: ValueForm
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

/** A recipe that is verified by the request and the secret alone. */
export type LocalRecipe = HmacRecipe | PlainRecipe

/** Messages of Amazon SNS, signed with a key whose certificate is fetched. The secret is the name of the topic. */
interface SnsRecipe {
  readonly kind: "sns"
}

export type Recipe = LocalRecipe | SnsRecipe

/** The hash functions of signatures. */
export const HMAC_ALGORITHMS = ["sha1", "sha256", "sha512"] as const satisfies ReadonlyArray<HmacRecipe["algorithm"]>
/** The encodings of signatures. */
export const SIGNATURE_ENCODINGS = ["hex", "base64"] as const satisfies ReadonlyArray<SignatureForm["encoding"]>

/** How a sender without its own recipe signs. */
export interface HmacParameters {
  /** The header of the signature; null if it is in a field. */
  readonly header: string | null
  /** The field of the body with the signature. */
  readonly field?: string
  readonly algorithm: HmacRecipe["algorithm"]
  readonly encoding: SignatureForm["encoding"]
  /** The beginning of the signature. */
  readonly prefix: string
  /** The header with the signed time; null if the time is elsewhere, or not signed. */
  readonly timestampHeader: string | null
  /** The greatest difference from the current time. */
  readonly toleranceSeconds: number
  /** How the signature header is written, such as `t={timestamp},v1={signature}`; absent: the prefix and the signature. */
  readonly value?: string
  /** What is signed, such as `{timestamp}.{body}`; absent: the body, after the timestamp and a dot if there is one. */
  readonly signed?: string
  /** The field of the body with the signed time. */
  readonly timestampField?: string
  /** The header with the signed number of the message. */
  readonly idHeader?: string
}

/** The JSON of the parameters and its description. */
export const hmacShape = Shape.object<HmacParameters>("How the sender signs, for the recipe `hmac`; else null.", {
  header: Shape.orNull(Shape.text("The header of the signature; null: it is in a field.")),
  algorithm: Shape.oneOf(HMAC_ALGORITHMS, "The hash function."),
  encoding: Shape.oneOf(SIGNATURE_ENCODINGS, "How the signature is written."),
  prefix: Shape.text("The beginning of the signature."),
  timestampHeader: Shape.orNull(Shape.text("The header with the signed time; null: no header has it.")),
  toleranceSeconds: Shape.whole("How far the timestamp may be from now."),
  field: Shape.optional(Shape.text("The field of the body with the signature.")),
  value: Shape.optional(Shape.text("How the header of the signature is written.")),
  signed: Shape.optional(Shape.text("What is signed.")),
  timestampField: Shape.optional(Shape.text("The field of the body with the signed time.")),
  idHeader: Shape.optional(Shape.text("The header with the signed number of the message.")),
})

/** A change of the parameters; null takes one away. */
export type HmacChange = { readonly [Name in keyof HmacParameters]?: HmacParameters[Name] | null }
