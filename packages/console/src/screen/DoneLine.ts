/**
 * After an act, a line above the next screen says what it did, and offers to undo it where that is possible. A cookie carries the
 * act's address there, so that the screens' own addresses stay the same and can be shared.
 */
import { hash } from "node:crypto"
import { decodeSegment, queryPairs } from "@data-cabinet/http-node/api/QueryPairs"
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { doneCookie } from "@data-cabinet/http-node/person/SessionCookie"
import { addressOf } from "@data-cabinet/http-node/server/Route"
import { postForm } from "../html/PostForm.ts"
import type { Frame, Screen } from "../html/Shell.ts"
import { queryText } from "../table/SelectionLinks.ts"
import type { ConsoleScreen, FormCall, ScreenCall } from "./ConsoleScreen.ts"
import type { PlaceOf } from "./FormAgain.ts"
import { lineAbove } from "./LineAbove.ts"

const SECONDS = 60
/** With the address of the screen: nginx passes on 4,096 bytes of all headers, by default. */
const MAX_CHARACTERS = 3_000

interface Undo {
  /** The last part of the other act's address. */
  readonly to: string
  /** The fields of the form that it also needs. */
  readonly fields?: ReadonlyArray<string>
}

/** The act that undoes another. */
const UNDO: Readonly<Record<string, Undo>> = {
  "addresses/{id}/pause": { to: "resume" },
  "addresses/{id}/resume": { to: "pause" },
  "events/trash": { to: "restore", fields: ["event"] },
  "events/restore": { to: "trash", fields: ["event"] },
  "events/{id}/trash": { to: "restore" },
  "events/{id}/restore": { to: "trash" },
  "notices/off": { to: "on" },
  "notices/on": { to: "off" },
  "polls/{id}/pause": { to: "resume" },
  "polls/{id}/resume": { to: "pause" },
  "sources/{id}/archive": { to: "restore" },
  "sources/{id}/restore": { to: "archive" },
}

/** The key of an act's sentence: its pattern below `/console/`. */
export const doneKey = ({ path }: Pick<ConsoleScreen, "path">): string => path.slice("/console/".length)

const sentenceOf = ({ words: { done } }: Frame, screen: ConsoleScreen): string | undefined =>
  (done as Readonly<Record<string, string>>)[doneKey(screen)]

const placeHash = (address: string): string => hash("sha256", address, "hex").slice(0, 12)

export const doneLines = (baseUrl: string, placeOf: PlaceOf) => {
  const cookie = doneCookie(baseUrl)

  /** The cookie for the line on the screen at `location`; null for an act without a sentence. */
  const said = (screen: ConsoleScreen, { frame, address, form }: FormCall, location: string): string | null => {
    if (sentenceOf(frame, screen) === undefined) return null
    const { fields = [] } = UNDO[doneKey(screen)] ?? {}
    const query = queryText(form.filter(([name]) => fields.includes(name)))
    const whole = [address, `${address}?${query}`].map((one) => `${placeHash(location)}.${encodeURIComponent(one)}`)
    const most = MAX_CHARACTERS - location.length
    const text = query !== "" && whole[1]!.length <= most ? whole[1]! : whole[0]!
    return text.length > most ? null : cookie.set(text, SECONDS)
  }

  /** Adds the sentence to the screen that it is meant for, once, and clears the cookie. */
  const shown = ({ frame, request }: ScreenCall, screen: Screen, at: string) => {
    const [, place, kept = ""] = /^([\da-f]{12})\.([\w.!~*'()%-]+)$/.exec(cookie.read(request.headers) ?? "") ?? []
    if (place !== placeHash(frame.base + at)) return { screen, cookies: [] }
    const address = decodeSegment(kept) ?? ""
    const act = placeOf(address)
    const sentence = act === null ? undefined : sentenceOf(frame, act.screen)
    if (act === null || sentence === undefined) return { screen, cookies: [cookie.clear] }
    const undo = UNDO[doneKey(act.screen)]
    return {
      screen: lineAbove(screen, sentence, undo === undefined ? null : undoForm(frame, undo, address)),
      cookies: [cookie.clear],
    }
  }
  return { said, shown }
}

export type DoneLines = ReturnType<typeof doneLines>

const undoForm = (frame: Frame, { to, fields = [] }: Undo, act: string): HtmlValue => {
  const { path, query } = addressOf(act)
  const pairs = queryPairs(query).filter(([name]) => fields.includes(name))
  if (fields.length > 0 && pairs.length === 0) return null
  return postForm({
    path: `${frame.base}${path.slice(0, path.lastIndexOf("/") + 1)}${to}`,
    body: markup`${pairs.map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`)}<button>${frame.words.undo}</button>`,
  })
}
