/** Decodes JSON whose strings are in different charsets: it should be UTF-8, and is read again because it is not. */
import { type Charset, decode, type Decoded, UTF_8 } from "../text/Charset.ts"
import { staysUtf8 } from "./FormCharsets.ts"

const QUOTE = 34

/** Strings that are UTF-8 by themselves stay so; the others are in `charset`. No charset has a quote's byte inside a character. */
export const decodeMixedJson = (body: Buffer, charset: Charset): Decoded => {
  let text = ""
  let replaced = 0
  for (let start = 0; start < body.length;) {
    const quote = body.indexOf(QUOTE, start)
    const end = quote === -1 ? body.length : quote + 1
    const piece = decode(body, staysUtf8(body, start, end) ? UTF_8 : charset, start, end)
    text += piece.text
    replaced += piece.replaced
    start = end
  }
  return { text, replaced }
}
