/**
 * After an act, a line above the next screen says what it did, and offers to undo it where that is possible. A cookie carries the
 * act's address there, so that the screens' own addresses stay the same and can be shared. It is sealed, for its person and for a
 * minute: another host of the domain can set cookies, but cannot make the console say that something was done.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib"
import type { Actor } from "@data-cabinet/core/audit/Actor"
import { CursorKeys } from "@data-cabinet/core/pagination/CursorKey"
import { openText, sealText } from "@data-cabinet/core/person/SealedText"
import { queryPairs } from "@data-cabinet/http-node/api/QueryPairs"
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { doneCookie } from "@data-cabinet/http-node/session/SessionCookie"
import { HttpSettings } from "@data-cabinet/http-node/server/HttpSettings"
import { addressOf } from "@data-cabinet/http-node/server/Route"
import { Clock, Effect } from "effect"
import { postForm } from "../html/PostForm.ts"
import type { Frame, Screen } from "../html/Shell.ts"
import { queryText } from "./SelectionLinks.ts"
import type { ConsoleScreen, FormCall, ScreenCall } from "./ConsoleScreen.ts"
import type { PlaceOf } from "./FormAgain.ts"

/** A line above a screen with the outcome of the visitor's last act. */
export const lineAbove = (screen: Screen, text: string, more: HtmlValue = null): Screen => ({
  ...screen,
  main: markup`<div class="box good above" role="status"><p>${text}</p>${more}</div>${screen.main}`,
})

const SECONDS = 60
/** With the address of the screen: nginx passes on 4,096 bytes of all headers, by default. */
const MAX_CHARACTERS = 3_000

const PURPOSE = "done"

interface Undo {
  /** The last part of the other act's address. */
  readonly to: string
  /** The fields of the form that it also needs. */
  readonly fields?: ReadonlyArray<string>
}

/** The act that undoes another. */
export const UNDO: Readonly<Record<string, Undo>> = {
  "addresses/{id}/pause": { to: "resume" },
  "addresses/{id}/resume": { to: "pause" },
  "deliveries/{id}/cancel": { to: "resend", fields: ["from"] },
  "destinations/{id}/pause": { to: "resume" },
  "destinations/{id}/resume": { to: "pause" },
  "events/trash": { to: "restore", fields: ["event"] },
  "events/restore": { to: "trash", fields: ["event"] },
  "events/{id}/trash": { to: "restore" },
  "events/{id}/restore": { to: "trash" },
  "inbox/{id}/{event}/done": { to: "undone", fields: ["list"] },
  "inbox/{id}/{event}/undone": { to: "done", fields: ["list"] },
  "inbox/{id}/{event}/trash": { to: "restore", fields: ["list"] },
  "inbox/{id}/{event}/restore": { to: "trash", fields: ["list"] },
  "inbox/{id}/{event}/unread": { to: "read", fields: ["list"] },
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

type Said = readonly [until: number, actor: string, at: string, act: string]

const nameOf = (actor: Actor | null): string => (actor === null ? "" : `${actor.kind} ${actor.id ?? actor.name}`)

export const doneLines = Effect.fnUntraced(function* (placeOf: PlaceOf) {
  const { key } = yield* CursorKeys
  const { baseUrl } = yield* HttpSettings
  const cookie = doneCookie(baseUrl)

  /** The cookie for the line on the screen at `location`; null for an act without a sentence. */
  const said = Effect.fnUntraced(function* (
    screen: ConsoleScreen,
    { frame, actor, address, form }: FormCall,
    location: string,
  ): Effect.fn.Return<string | null> {
    if (sentenceOf(frame, screen) === undefined) return null
    // The act is done: a database that stopped responding since then costs the line, not the response.
    const signing = yield* Effect.orElseSucceed(key, () => null)
    if (signing === null) return null
    const until = Math.floor((yield* Clock.currentTimeMillis) / 1_000) + SECONDS
    const { fields = [] } = UNDO[doneKey(screen)] ?? {}
    const query = queryText(form.filter(([name]) => fields.includes(name)))
    const sealed = (act: string): string | null => {
      const line: Said = [until, nameOf(actor), location, act]
      const text = sealText(signing, PURPOSE, deflateRawSync(JSON.stringify(line)))
      return text.length + location.length > MAX_CHARACTERS ? null : text
    }
    const text = (query === "" ? null : sealed(`${address}?${query}`)) ?? sealed(address)
    return text === null ? null : cookie.set(text, SECONDS)
  })

  const opened = Effect.fnUntraced(function* (sealed: string) {
    const bytes = openText(yield* key, PURPOSE, sealed)
    if (bytes === null) return null
    const [until, actor, at, act] = JSON.parse(inflateRawSync(bytes).toString("utf8")) as Said
    return until * 1_000 > (yield* Clock.currentTimeMillis) ? { actor, at, act } : null
  })

  /** Adds the sentence to the screen that it is meant for, once, and clears the cookie. */
  const shown = Effect.fnUntraced(function* ({ frame, actor, request }: ScreenCall, screen: Screen, at: string) {
    const sealed = cookie.read(request.headers)
    const line = sealed === null ? null : yield* opened(sealed)
    if (line === null || line.at !== frame.base + at) return { screen, cookies: [] }
    // Only the person who acted sees the line. A public screen, such as the form to sign in, knows no person.
    const isTheirs = actor === null || line.actor === nameOf(actor)
    const act = isTheirs ? placeOf(line.act) : null
    const sentence = act === null ? undefined : sentenceOf(frame, act.screen)
    if (act === null || sentence === undefined) return { screen, cookies: [cookie.clear] }
    const undo = UNDO[doneKey(act.screen)]
    return {
      screen: lineAbove(screen, sentence, undo === undefined ? null : undoForm(frame, undo, line.act)),
      cookies: [cookie.clear],
    }
  })
  return { said, shown }
})

export type DoneLines = Effect.Success<ReturnType<typeof doneLines>>

const undoForm = (frame: Frame, { to, fields = [] }: Undo, act: string): HtmlValue => {
  const { path, query } = addressOf(act)
  const pairs = queryPairs(query).filter(([name]) => fields.includes(name))
  if (fields.length > 0 && pairs.length === 0) return null
  return postForm({
    path: `${frame.base}${path.slice(0, path.lastIndexOf("/") + 1)}${to}`,
    body: markup`${pairs.map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`)}<button>${frame.words.undo}</button>`,
  })
}
