/** The parameters of the recipe `hmac`: a change of them, and the recipe that they describe. */
import {
  HMAC_ALGORITHMS,
  type HmacChange,
  type HmacParameters,
  type HmacRecipe,
  SIGNATURE_ENCODINGS,
  type SignedPart,
  type ValueForm,
} from "./Recipe.ts"
import { signedParts, valueParts } from "./SignedPattern.ts"
import { fieldMisfit, headerMisfit } from "./TokenPlace.ts"

/** The longest prefix of a signature, in characters. */
export const MAX_SIGNATURE_PREFIX_LENGTH = 50
/** The greatest tolerance of a timestamp. */
export const MAX_TOLERANCE_SECONDS = 86_400

const DEFAULTS = {
  header: null,
  algorithm: "sha256",
  encoding: "hex",
  prefix: "",
  timestampHeader: null,
  toleranceSeconds: 300,
} as const satisfies HmacParameters

/** The parameters after a change; the reason in words if they cannot be used. `before`: null if the recipe is new. */
export const changedHmac = (before: HmacParameters | null, change: HmacChange): HmacParameters | string => {
  if (change.header != null && change.field != null) return "a signature is in one place: a header or a field."
  const moved: HmacChange = change.header != null ? { field: null } : change.field != null ? { header: null } : {}
  const { header, algorithm, encoding, prefix, timestampHeader, toleranceSeconds, ...patterns } = {
    ...DEFAULTS,
    ...before,
    ...moved,
    ...change,
  }
  const parameters: HmacParameters = {
    header,
    algorithm: algorithm ?? DEFAULTS.algorithm,
    encoding: encoding ?? DEFAULTS.encoding,
    prefix: prefix ?? DEFAULTS.prefix,
    timestampHeader,
    toleranceSeconds: toleranceSeconds ?? DEFAULTS.toleranceSeconds,
    ...without(patterns),
  }
  return parametersMisfit(parameters) ?? parameters
}

type Patterns = Pick<HmacChange, "field" | "value" | "signed" | "timestampField" | "idHeader">

/** Leaves out unset parameters. */
const without = ({ field, value, signed, timestampField, idHeader }: Patterns) => ({
  ...(field == null ? {} : { field }),
  ...(value == null ? {} : { value }),
  ...(signed == null ? {} : { signed }),
  ...(timestampField == null ? {} : { timestampField }),
  ...(idHeader == null ? {} : { idHeader }),
})

const parametersMisfit = (parameters: HmacParameters): string | null => {
  const { header, field, algorithm, encoding, prefix, timestampHeader, idHeader, toleranceSeconds } = parameters
  if (header === null && field === undefined) return "the recipe hmac needs the header of the signature, or its field."
  for (const name of [header, timestampHeader, idHeader]) {
    const misfit = name == null ? null : headerMisfit(name)
    if (misfit !== null) return misfit
  }
  for (const name of [field, parameters.timestampField]) {
    const misfit = name === undefined ? null : fieldMisfit(name)
    if (misfit !== null) return misfit
  }
  if (!HMAC_ALGORITHMS.includes(algorithm)) return `the algorithm must be one of ${HMAC_ALGORITHMS.join(", ")}.`
  if (!SIGNATURE_ENCODINGS.includes(encoding)) return `the encoding must be one of ${SIGNATURE_ENCODINGS.join(", ")}.`
  if (prefix.length > MAX_SIGNATURE_PREFIX_LENGTH || !/^[\x21-\x7e]*$/.test(prefix)) {
    return `the prefix has at most ${MAX_SIGNATURE_PREFIX_LENGTH} visible ASCII characters.`
  }
  if (!Number.isInteger(toleranceSeconds) || toleranceSeconds < 1 || toleranceSeconds > MAX_TOLERANCE_SECONDS) {
    return `the tolerance is 1 to ${MAX_TOLERANCE_SECONDS} seconds.`
  }
  return patternsMisfit(parameters)
}

/** The signed parts and their places must match: a timestamp that is not signed would prove nothing. */
const patternsMisfit = (parameters: HmacParameters): string | null => {
  const { prefix, value, timestampHeader, timestampField, idHeader } = parameters
  const parts = value === undefined ? {} : valueParts(value)
  if (typeof parts === "string") return parts
  if (value !== undefined && prefix !== "") return "the beginning of the signature is in value, or in prefix, not both."
  const times = [timestampHeader ?? undefined, timestampField, "timestamp" in parts ? parts.timestamp : undefined]
  const timestamps = times.filter((one) => one !== undefined).length
  if (timestamps > 1) return "a timestamp is in one place: a header, a field or a part of value."
  const signed = signedOf(parameters)
  if (typeof signed === "string") return signed
  const ids = [idHeader, "id" in parts ? parts.id : undefined].filter((one) => one !== undefined).length
  if (ids > 1) return "the number of a message is in one place: a header or a part of value."
  for (const [name, places] of [
    ["timestamp", timestamps],
    ["id", ids],
  ] as const) {
    const isSigned = signed.includes(name)
    if (isSigned && places === 0) return `signed has {${name}}; say which header, or which part of value, it is in.`
    if (!isSigned && places > 0) return `signed must have {${name}}: what is not signed proves nothing.`
  }
  return null
}

/** By default the body, after the timestamp and a dot if there is one. */
const signedOf = (parameters: HmacParameters): ReadonlyArray<SignedPart> | string => {
  if (parameters.signed !== undefined) return signedParts(parameters.signed)
  return timestampOf(parameters) === undefined ? ["body"] : ["timestamp", { text: "." }, "body"]
}

const partsOf = ({ value, prefix }: HmacParameters) => {
  const parts = value === undefined ? { separator: null, signature: prefix } : valueParts(value)
  if (typeof parts === "string") throw new Error(parts)
  return parts
}

const timestampOf = (parameters: HmacParameters): ValueForm | undefined => {
  const { timestampHeader, timestampField } = parameters
  if (timestampHeader !== null) return { headers: [timestampHeader.toLowerCase()] }
  if (timestampField !== undefined) return { fields: [timestampField] }
  return placed(partsOf(parameters), "timestamp")
}

const placed = (parts: { readonly timestamp?: string; readonly id?: string }, name: "timestamp" | "id") => {
  const prefix = parts[name]
  return prefix === undefined ? undefined : { prefix }
}

/** The recipe that these parameters describe. */
export const hmacRecipe = (parameters: HmacParameters): HmacRecipe => {
  const { header, field, algorithm, encoding, idHeader, toleranceSeconds } = parameters
  const parts = partsOf(parameters)
  const signed = signedOf(parameters)
  if (typeof signed === "string") throw new Error(signed)
  const timestamp = timestampOf(parameters)
  const id = idHeader === undefined ? placed(parts, "id") : { headers: [idHeader.toLowerCase()] }
  return {
    kind: "hmac",
    secret: "text",
    algorithm,
    signed,
    signature: {
      headers: header === null ? [] : [header.toLowerCase()],
      ...(field === undefined ? {} : { fields: [field] }),
      encoding,
      separator: parts.separator,
      prefix: parts.signature,
    },
    ...(timestamp === undefined ? {} : { timestamp: { ...timestamp, toleranceSeconds, form: "any" } }),
    ...(id === undefined ? {} : { id }),
  }
}
