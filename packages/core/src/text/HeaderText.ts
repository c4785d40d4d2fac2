/** Decodes the text of a request's header. */

/** Node reads header bytes as Latin-1; most senders that go beyond ASCII mean UTF-8. Control characters become U+FFFD. */
export const headerText = (value: string): string => {
  if (PLAIN.test(value)) return value
  const bytes = Buffer.from(value, "latin1")
  const text = /[^\0-\xff]/.test(value) ? value : (decoded(bytes) ?? value)
  return text.toWellFormed().replaceAll(CONTROL, "\uFFFD")
}

const PLAIN = /^[\x20-\x7e]*$/

// eslint-disable-next-line no-control-regex -- they are what it looks for
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/g

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const decoded = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
