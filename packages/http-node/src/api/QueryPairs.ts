/**
 * A query string as ordered pairs, as sent, decoded like a form: `+` is a space, a broken escape stays as written, bytes
 * that are not UTF-8 become U+FFFD.
 */
export const queryPairs = (query: string): ReadonlyArray<readonly [name: string, value: string]> => {
  if (query === "") return []
  const pairs: Array<readonly [string, string]> = []
  for (const part of query.split("&")) {
    if (part === "") continue
    const equals = part.indexOf("=")
    pairs.push(equals < 0 ? [decode(part), ""] : [decode(part.slice(0, equals)), decode(part.slice(equals + 1))])
  }
  return pairs
}

const decode = (text: string): string => {
  if (!/[%+]/.test(text)) return text
  const spaced = text.replaceAll("+", " ")
  try {
    return decodeURIComponent(spaced)
  } catch {
    return decodeLeniently(spaced)
  }
}

const decodeLeniently = (text: string): string => {
  const bytes = Buffer.from(text)
  const out = Buffer.alloc(bytes.length)
  let length = 0
  for (let i = 0; i < bytes.length; i++) {
    const escaped = bytes[i] === 0x25 ? bytes.toString("latin1", i + 1, i + 3) : ""
    if (/^[0-9a-f]{2}$/i.test(escaped)) {
      out[length++] = parseInt(escaped, 16)
      i += 2
    } else out[length++] = bytes[i]!
  }
  return out.toString("utf8", 0, length)
}

/** One segment of a path, decoded; undefined when its percent-encoding is broken. */
export const decodeSegment = (segment: string): string | undefined => {
  if (!segment.includes("%")) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
