/** The body of a page: its items as they came from the database, joined, with what else the page says behind them. */

const HEAD = Buffer.from('{"data":[')
const COMMA = 0x2c

/** `{"data":[…],…}`. `rest` is the other members of the object as JSON text. The items are copied once, and never read. */
export const pageBody = (items: ReadonlyArray<Uint8Array>, rest: string): Uint8Array => {
  const tail = Buffer.from(`],${rest}}`)
  let length = HEAD.length + Math.max(0, items.length - 1) + tail.length
  for (const item of items) length += item.length
  const body = Buffer.allocUnsafe(length)
  body.set(HEAD)
  let at = HEAD.length
  for (const item of items) {
    if (at > HEAD.length) body[at++] = COMMA
    body.set(item, at)
    at += item.length
  }
  body.set(tail, at)
  return body
}
