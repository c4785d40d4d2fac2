/** The body of a page of results: its items as stored, followed by the page's other members. */
import type { Items } from "@data-cabinet/core/pagination/Items"

const HEAD = Buffer.from('{"data":[')

/** `{"data":[…],…}` and a newline. `rest` is the other members of the object as JSON text. */
export const pageBody = (items: Items, rest: string): Uint8Array => items.between(HEAD, Buffer.from(`],${rest}}\n`))
