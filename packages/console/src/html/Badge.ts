/** A state in one word, with a colour that the word does not depend on. */
import { type Html, markup } from "@data-cabinet/http-node/html/Html"

export type Tone = "good" | "bad" | "warn" | "quiet"

export const badge = (tone: Tone, text: string): Html => markup`<span class="badge ${tone}">${text}</span>`
