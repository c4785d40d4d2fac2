/** Every word of the screens. One closed record for each language: a word that one of them lacks does not compile. */
import type { Language } from "@data-cabinet/http-node/html/Language"
import { ENGLISH } from "./English.ts"
import { RUSSIAN } from "./Russian.ts"

export type Words = typeof ENGLISH

export const WORDS = { en: ENGLISH, ru: RUSSIAN } satisfies Record<Language, Words>
