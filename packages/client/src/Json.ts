/**
 * JSON without the loss of a digit. A number that a double cannot represent exactly becomes a string, or on request a bigint
 * if it is an integer; all others are numbers.
 */

/** How to represent a number beyond doubles. */
export type Numbers = "string" | "bigint"

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** This many decimal digits always survive a double. */
const SAFE_DIGITS = 15
const SAFE_EXPONENT = 290

const fitsDouble = (token: string): boolean => {
  const value = Number(token)
  if (/^-?\d+$/.test(token) && Number.isSafeInteger(value)) return true
  const [mantissa = "", exponent = "0"] = token.toLowerCase().split("e")
  const digits = mantissa.replace(/[-.]/g, "").replace(/^0+/, "")
  let count = digits.length
  while (digits[count - 1] === "0") count -= 1
  return count <= SAFE_DIGITS && mantissa.length < SAFE_EXPONENT && Math.abs(Number(exponent)) < SAFE_EXPONENT
}

const valueOf = (token: string): string | bigint => (/^-?\d+$/.test(token) ? BigInt(token) : token)

/**
 * Parses JSON, and returns numbers that a double cannot hold in the form that `numbers` names. Throws a `SyntaxError`
 * for invalid JSON.
 */
export const parseJson = (text: string, numbers: Numbers = "string"): unknown => {
  // A random name, unknown to senders: their data must not turn into a number.
  const mark = numbers === "bigint" ? crypto.getRandomValues(new Uint32Array(4)).join("-") : ""
  let isMarked = false
  const kept = text.replace(TOKEN, (token) => {
    if (token.startsWith('"') || fitsDouble(token)) return token
    if (numbers === "string") return `"${token}"`
    isMarked = true
    return `{"${mark}":"${token}"}`
  })
  if (!isMarked) return JSON.parse(kept)
  return JSON.parse(kept, (_, value: unknown) => {
    if (typeof value !== "object" || value === null) return value
    const token = (value as Readonly<Record<string, unknown>>)[mark]
    return typeof token === "string" ? valueOf(token) : value
  })
}

/** Bigints are written as numbers. */
export const writeJson = (value: unknown): string => {
  if (typeof value === "bigint") return String(value)
  if (Array.isArray(value)) return `[${value.map((item) => writeJson(item ?? null)).join(",")}]`
  if (typeof value !== "object" || value === null || "toJSON" in value) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${writeJson(inner)}`).join(",")}}`
}
