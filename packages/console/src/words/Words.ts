/** Every word of the screens: one closed record for each language, so that a word missing in one of them does not compile. */
import type { Language } from "@data-cabinet/http-node/html/Language"
import { ENGLISH } from "./English.ts"
import { isolatedWords } from "./IsolatedWords.ts"
import { RUSSIAN } from "./Russian.ts"

export type Words = typeof ENGLISH

export const WORDS = { en: isolatedWords(ENGLISH), ru: isolatedWords(RUSSIAN) } satisfies Record<Language, Words>
