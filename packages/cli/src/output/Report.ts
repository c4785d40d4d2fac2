/** What a command prints: one JSON document with `--json`, else text for people. Nothing else goes to stdout. */
import { Effect } from "effect"
import { type Style, styleFor } from "./Style.ts"

/** JSON text that is passed on unread, so that no digit of it is lost. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Like `JSON.stringify` with `JsonText` put in as it is. */
export const writeJson = (value: unknown): string => {
  if (value instanceof JsonText) return value.text
  if (Array.isArray(value)) return `[${value.map(writeJson).join(",")}]`
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
    return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${writeJson(inner)}`).join(",")}}`
  }
  return JSON.stringify(value)
}

/** The same value with its keys as our JSON documents have them: `daysAhead` becomes `days_ahead`. */
export const snakeKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(snakeKeys)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      snakeKeys(inner),
    ]),
  )
}

export const printLine = (text: string): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    // The next line waits until this one is taken, so that a slow reader bounds what is held.
    process.stdout.write(`${text}\n`, () => resume(Effect.void))
  })

export const report = (json: boolean, value: unknown, text: (style: Style) => string): Effect.Effect<void> =>
  Effect.suspend(() => printLine(json ? writeJson(value) : text(styleFor(process.stdout))))
