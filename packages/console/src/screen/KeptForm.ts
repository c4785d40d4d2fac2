/**
 * Keeps a form that was sent after its session had ended. It is not carried out: the browser keeps it, sealed, long enough for a
 * sign-in. The same person then gets it back as it was filled, to send it again. Secrets are not kept.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib"
import { CursorKeys } from "@data-cabinet/core/pagination/CursorKey"
import { readBrowser } from "@data-cabinet/core/person/KnownBrowser"
import { openText, sealText } from "@data-cabinet/core/person/SealedText"
import { browserCookie, formCookie } from "@data-cabinet/http-node/session/SessionCookie"
import { HttpSettings } from "@data-cabinet/http-node/server/HttpSettings"
import type { Request } from "@data-cabinet/http-node/server/Request"
import { Clock, Effect } from "effect"
import { filledForm, SECRET_FIELDS, type TypedForm } from "./FilledForm.ts"
import { FORM_ID } from "../html/PostForm.ts"
import type { Frame, Screen } from "../html/Shell.ts"
import { Html } from "@data-cabinet/http-node/html/Html"
import type { Pairs, ScreenCall } from "./ConsoleScreen.ts"
import { lineAbove } from "./DoneLine.ts"

const KEPT_SECONDS = 1_800

/**
 * The sealed form and the address that it comes back to. A browser keeps 4,096 bytes with the name and the attributes;
 * nginx by default passes on as many for all headers of a response, and responds with 502 if there are more.
 */
const MAX_SEALED = 3_000
/** Longer forms would not compress to that size. */
const MAX_TYPED = 50_000

const PURPOSE = "form"

type Kept = readonly [until: number, personId: number, at: string, action: string, pairs: Pairs]

export const keptForms = Effect.gen(function* () {
  const { key } = yield* CursorKeys
  const { baseUrl } = yield* HttpSettings
  const cookie = formCookie(baseUrl)
  const browser = browserCookie(baseUrl)

  /** The cookie that keeps it; null if its sender is unknown, or if it is too long. */
  const keep = Effect.fnUntraced(function* ({ headers }: Request, at: string, { action, pairs }: TypedForm) {
    const signing = yield* key
    const known = readBrowser(signing, browser.read(headers) ?? "")
    const typed = pairs.filter(([name]) => name !== FORM_ID && !SECRET_FIELDS.has(name))
    if (known === null || typed.reduce((sum, pair) => sum + pair.join("").length, 0) > MAX_TYPED) return null
    const now = yield* Clock.currentTimeMillis
    const kept: Kept = [Math.floor(now / 1_000) + KEPT_SECONDS, known.personId, at, action, typed]
    const sealed = sealText(signing, PURPOSE, deflateRawSync(JSON.stringify(kept)))
    return sealed.length + encodeURIComponent(at).length > MAX_SEALED ? null : cookie.set(sealed, KEPT_SECONDS)
  })

  const opened = Effect.fnUntraced(function* (sealed: string) {
    const bytes = openText(yield* key, PURPOSE, sealed)
    if (bytes === null) return null
    const [until, personId, at, action, pairs] = JSON.parse(inflateRawSync(bytes).toString("utf8")) as Kept
    const now = yield* Clock.currentTimeMillis
    return until * 1_000 > now ? { personId, at, form: { action, pairs } } : null
  })

  /** Fills the form that was kept for this screen, once, and clears the cookie. */
  const restored = Effect.fnUntraced(function* ({ frame, session, request }: ScreenCall, screen: Screen, at: string) {
    const sealed = cookie.read(request.headers)
    const kept = sealed === null || session === null ? null : yield* opened(sealed)
    if (kept === null || kept.at !== at) return { screen, cookies: [] }
    const isTheirs = kept.personId === session?.personId
    return { screen: isTheirs ? withForm(frame, screen, kept.form) : screen, cookies: [cookie.clear] }
  })

  const isKept = ({ headers }: Request): boolean => cookie.read(headers) !== null

  return { keep, restored, isKept }
})

export type KeptForms = Effect.Success<typeof keptForms>

const withForm = (frame: Frame, screen: Screen, form: TypedForm): Screen => {
  const { session } = frame.words
  const main = filledForm(screen.main.text, form, null)
  if (main === null) return lineAbove(screen, session.notSent)
  return lineAbove({ ...screen, main: new Html(main) }, session.formIsBack)
}
