/** The body of a page: its items as they lie, with what else the page says behind them. */
import type { Items } from "@data-cabinet/core/pagination/Items"

const HEAD = Buffer.from('{"data":[')

/** `{"data":[…],…}` and the end of its line. `rest` is the other members of the object as JSON text. */
export const pageBody = (items: Items, rest: string): Uint8Array => items.between(HEAD, Buffer.from(`],${rest}}\n`))
