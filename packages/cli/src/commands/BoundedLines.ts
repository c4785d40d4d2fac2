/** The lines of a stream of text. A line that is too long is dropped, so that no input fills the memory. */
import type { Readable } from "node:stream"

const NEWLINE = 0x0a

/** Each line without its end; null in place of one with more bytes. */
export async function* boundedLines(input: Readable, maxBytes: number): AsyncGenerator<Uint8Array | null> {
  let held: Array<Buffer> = []
  let bytes = 0
  const add = (part: Buffer) => {
    bytes += part.length
    if (bytes > maxBytes) held = []
    else held.push(part)
  }
  const line = () => {
    const whole = bytes > maxBytes ? null : Buffer.concat(held)
    held = []
    bytes = 0
    return whole
  }
  for await (const chunk of input) {
    let rest = Buffer.from(chunk as Buffer | string)
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      add(rest.subarray(0, end))
      yield line()
      rest = rest.subarray(end + 1)
    }
    if (rest.length > 0) add(rest)
  }
  if (bytes > 0) yield line()
}
