/**
 * The output of a command: one JSON document with `--json`, otherwise text for people. Nothing else goes to stdout.
 * Characters that a terminal would act on are escaped; other programs get values unchanged.
 */
import { JsonNumber, type Json } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { ownJson } from "@data-cabinet/core/json/ParseJson"
import { Effect } from "effect"
import { CommandError } from "../error/CommandError.ts"
import { plainJson, plainOutput } from "./PlainText.ts"
import { type Style, styleFor } from "./Style.ts"

/** JSON text that is passed on unparsed, so that no digit is lost. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Like `JSON.stringify`, with `JsonText` inserted as is. */
export const writeJson = (value: unknown): string => {
  if (value instanceof JsonText) return value.text
  if (Array.isArray(value)) return `[${value.map(writeJson).join(",")}]`
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
    return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${writeJson(inner)}`).join(",")}}`
  }
  return JSON.stringify(value)
}

const print = (text: string): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    // The next line waits until this one is flushed, so that a slow reader bounds the buffered output.
    process.stdout.write(`${text}\n`, () => resume(Effect.void))
  })

/** A line for people. */
export const printLine = (text: string): Effect.Effect<void> => print(plainOutput(text))

/** JSON or a single value, for programs. */
export const printValue = (text: string, isJson = true): Effect.Effect<void> => {
  if (!process.stdout.isTTY) return print(text)
  return print(isJson ? plainJson(text) : plainOutput(text))
}

/** False: text for people. True: the document. A path: the one value of the document at that path. */
export type Format = boolean | { readonly path: string }

/** `table.name` in a document; text as is, other values as JSON. Undefined if the document has no such value. */
export const valueAt = (document: string, path: string): string | undefined => {
  let value: Json | undefined = ownJson(document)
  for (const name of path.split(".")) {
    if (value instanceof Map) value = value.get(name) as Json | undefined
    else if (Array.isArray(value)) value = /^\d+$/.test(name) ? (value[Number(name)] as Json | undefined) : undefined
    else value = undefined
  }
  if (value === undefined) return undefined
  if (typeof value === "string") return value
  return value instanceof JsonNumber ? value.token : jsonText(value)
}

export const report = (
  format: Format,
  value: unknown,
  text: (style: Style) => string,
): Effect.Effect<void, CommandError> =>
  Effect.suspend(() => {
    if (format === false) return printLine(text(styleFor(process.stdout)))
    const document = writeJson(value)
    if (format === true) return printValue(document)
    const found = valueAt(document, format.path)
    if (found !== undefined) return printValue(found, false)
    const message = `The output has no ${JSON.stringify(format.path)}; use --json to see its fields.`
    return Effect.fail(new CommandError({ code: "usage", message }))
  })
