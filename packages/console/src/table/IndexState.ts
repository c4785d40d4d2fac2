/** What an index is like: ready, being built, or left by a build that was interrupted; and the link that looks again. */
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

/** The script follows it by itself as long as it is there, and puts what it leads to into the element `place`. */
export const lookAgain = (frame: Frame, path: string, place: string): Html =>
  markup`<p><a class="button" href="${path}" data-into="${place}" data-again>${frame.words.index.refresh}</a></p>`
