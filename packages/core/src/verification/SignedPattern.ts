/**
 * The patterns in which a source describes how its sender signs: what is signed, such as `{timestamp}.{body}`, and how the
 * header of the signature is written, such as `t={timestamp},v1={signature}`. A function returns the reason in words
 * for a pattern that cannot be used.
 */
import type { SignedPart } from "./Recipe.ts"
import { fieldMisfit } from "./TokenPlace.ts"

/** The longest pattern, in characters. */
export const MAX_PATTERN_LENGTH = 500

const SIGNED_WORDS = "{body}, {timestamp}, {id}, {url} and {field:NAME}"

/** The parts of the signed text. `\n` stands for a line feed. */
export const signedParts = (pattern: string): ReadonlyArray<SignedPart> | string => {
  const misfit = textMisfit("signed", pattern)
  if (misfit !== null) return misfit
  const parts: Array<SignedPart> = []
  for (const [index, piece] of pattern.split(/\{([^{}]*)\}/).entries()) {
    if (index % 2 === 0) {
      if (/[{}]/.test(piece)) return "signed has a brace without its other one."
      if (piece !== "") parts.push({ text: piece.replaceAll("\\n", "\n") })
    } else if (piece === "body" || piece === "timestamp" || piece === "id" || piece === "url") parts.push(piece)
    else if (piece.startsWith("field:")) {
      const field = piece.slice("field:".length)
      const unusable = fieldMisfit(field)
      if (unusable !== null) return `signed: ${unusable}`
      parts.push({ fields: [field] })
    } else return `signed has {${piece}}; it may have ${SIGNED_WORDS}.`
  }
  const hasContent = parts.some((part) => part === "body" || (typeof part === "object" && "fields" in part))
  return hasContent ? parts : "signed needs {body} or a {field:NAME}: nothing else of the event would be proven."
}

/** The parts of a header, each by its beginning. */
export interface ValueParts {
  /** Null for a header of one part. */
  readonly separator: string | null
  readonly signature: string
  readonly timestamp?: string
  readonly id?: string
}

/** The parts of the header with the signature. */
export const valueParts = (pattern: string): ValueParts | string => {
  const misfit = textMisfit("value", pattern)
  if (misfit !== null) return misfit
  const separator = /[,; ]/.exec(pattern)?.[0] ?? null
  const pieces = separator === null ? [pattern] : pattern.split(separator).map((piece) => piece.trim())
  const found: { signature?: string; timestamp?: string; id?: string } = {}
  for (const piece of pieces) {
    const [, prefix, name] = /^([\x21-\x7a|~]*)\{(signature|timestamp|id)\}$/.exec(piece) ?? []
    if (prefix === undefined || name === undefined) {
      return "each part of value is a beginning and one of {signature}, {timestamp} and {id}, such as v1={signature}."
    }
    if (prefix === "" && pieces.length > 1)
      return "each part of value needs a beginning, such as v1= before {signature}."
    if (Object.hasOwn(found, name)) return `value has {${name}} twice.`
    found[name as keyof typeof found] = prefix
  }
  const { signature, ...others } = found
  return signature === undefined ? "value needs {signature}." : { separator, signature, ...others }
}

// eslint-disable-next-line no-control-regex -- none of them but a line feed is in what a sender signs
const CONTROL = /[\0-\x09\x0b-\x1f\x7f]/

const textMisfit = (name: string, pattern: string): string | null =>
  pattern.length > MAX_PATTERN_LENGTH || CONTROL.test(pattern) || !pattern.isWellFormed()
    ? `${name} has at most ${MAX_PATTERN_LENGTH} characters, and no control characters.`
    : null
