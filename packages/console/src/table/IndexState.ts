/** The state of an index: ready, being built, or left by an interrupted build; and the link that refreshes it. */
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import { badge } from "../html/Badge.ts"
import type { Frame } from "../html/Shell.ts"

interface SomeIndex {
  readonly valid: boolean
  readonly progress: number | null
}

export const indexState = (frame: Frame, { valid, progress }: SomeIndex): Html => {
  const { column: words, index } = frame.words
  if (valid) return badge("good", words.indexReady)
  if (progress === null) return badge("bad", words.indexInterrupted)
  return markup`<progress max="1" value="${progress}" aria-label="${index.building}"></progress><small>${index.part(progress)}</small>`
}

export const isBuilding = ({ progress }: SomeIndex): boolean => progress !== null

/** While it is present, the script follows it by itself and puts the result into the element `place`. */
export const lookAgain = (frame: Frame, path: string, place: string): Html =>
  markup`<p><a class="button" href="${path}" data-into="${place}" data-again>${frame.words.index.refresh}</a></p>`
