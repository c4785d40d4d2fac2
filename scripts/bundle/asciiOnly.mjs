/**
 * Writes every other character of a program as an escape. V8 keeps the source of what it runs, and in a file with a single
 * character beyond Latin-1 each character takes two bytes: 11 MB of a server's memory at rest.
 */
import { parseAst } from "rolldown/parseAst"

const NOT_ASCII = /[^\0-\x7F]/

/** `String.raw` would show the escape; all other tags of ours read what it stands for. */
const refuseRawText = (code, file) => {
  const look = (node) => {
    if (node === null || typeof node !== "object") return
    const { type, tag, quasi } = node
    if (type === "TaggedTemplateExpression" && code.slice(tag.start, tag.end) === "String.raw") {
      const text = code.slice(quasi.start, quasi.end)
      if (NOT_ASCII.test(text)) throw new Error(`${file} has String.raw with a character beyond ASCII: ${text}`)
    }
    Object.values(node).forEach(look)
  }
  look(parseAst(code))
}

export const asciiOnly = {
  name: "ascii-only",
  generateBundle: (_, bundle) => {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== "chunk" || !NOT_ASCII.test(chunk.code)) continue
      refuseRawText(chunk.code, chunk.fileName)
      chunk.code = chunk.code.replaceAll(
        new RegExp(NOT_ASCII, "g"),
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      )
    }
  },
}
