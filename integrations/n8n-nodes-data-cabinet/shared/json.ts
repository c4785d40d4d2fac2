/**
 * JSON without the loss of a digit: a number that a double does not hold exactly becomes text. n8n works with JavaScript's
 * numbers, so there is no other form for it.
 */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** This many decimal digits always survive a double. */
const SAFE_DIGITS = 15

const isExact = (token: string): boolean => {
  const value = Number(token)
  if (/^-?\d+$/.test(token)) return Number.isSafeInteger(value)
  const digits = token
    .replace(/[eE].*$/, "")
    .replace(/[-.]/g, "")
    .replace(/^0+|0+$/g, "")
  const size = Math.abs(value)
  return digits.length <= SAFE_DIGITS && (digits === "" || (size > 1e-290 && size < 1e290))
}

export const parseExact = (text: string): unknown =>
  JSON.parse(text.replace(TOKEN, (token) => (token.startsWith('"') || isExact(token) ? token : `"${token}"`)))
