/** What a person sets for this browser alone: the language of the screens. Kept in a cookie, which holds nothing else. */
import { markup, Html } from "@data-cabinet/http-node/html/Html"
import { chooseLanguage, type Language } from "@data-cabinet/http-node/html/Language"
import type { Request } from "@data-cabinet/http-node/server/Request"
import { Effect } from "effect"
import { consolePath, type Frame, type Screen } from "../html/Shell.ts"
import type { ConsoleScreen } from "./ConsoleScreen.ts"

const LANGUAGE_COOKIE = "cabinet-language"

const LANGUAGES = { en: "English", ru: "Русский" } as const satisfies Record<Language, string>

const isLanguage = (word: string | undefined): word is Language => word !== undefined && Object.hasOwn(LANGUAGES, word)

/** The chosen language, else the best of the browser's. */
export const languageOf = (headers: Request["headers"]): Language => {
  const [, chosen] = /(?:^|;\s*)cabinet-language=([a-z]+)/.exec(headers["cookie"] ?? "") ?? []
  return isLanguage(chosen) ? chosen : chooseLanguage(headers["accept-language"])
}

const YEAR_SECONDS = 31_536_000

/** Somebody who signs in elsewhere has no password here, and signs out there. */
const meScreen = (frame: Frame, hasSession: boolean): Screen => {
  const { words, language, actor } = frame
  const option = ([code, name]: [string, string]) =>
    markup`<label class="choice"><input type="radio" name="language" value="${code}"${code === language && new Html(" checked")}> <span lang="${code}">${name}</span></label>`
  return {
    title: words.me.title,
    section: null,
    main: markup`<h1>${words.me.title}</h1>
<dl class="facts">
<dt>${words.me.name}</dt><dd>${actor?.name ?? null}</dd>
<dt>${words.me.role}</dt><dd>${words.roles[actor?.role ?? ""] ?? actor?.role ?? null}</dd>
</dl>
<form method="post" action="${consolePath(frame, "me")}" class="card">
<fieldset><legend>${words.me.language}</legend>${Object.entries(LANGUAGES).map(option)}</fieldset>
<button>${words.save}</button>
</form>
${hasSession && markup`<p class="links"><a href="${consolePath(frame, "sessions")}">${words.people.mySessions}</a> · <a href="${consolePath(frame, "password")}">${words.session.newPassword}</a> · <a href="${consolePath(frame, "sign-out")}">${words.session.signOut}</a></p>`}`,
  }
}

export const preferenceScreens = Effect.succeed<ReadonlyArray<ConsoleScreen>>([
  { path: "/console", action: null, get: ({ frame }) => Effect.succeed({ location: consolePath(frame) }) },
  {
    path: "/console/",
    action: null,
    get: ({ frame }) => Effect.succeed({ location: consolePath(frame, "tables") }),
  },
  {
    path: "/console/me",
    action: "self.read",
    get: ({ frame, session }) => Effect.succeed({ screen: meScreen(frame, session !== null) }),
    post: {
      action: "self.read",
      respond: ({ frame, form }) => {
        const chosen = form.find(([name]) => name === "language")?.[1]
        const cookie = `${LANGUAGE_COOKIE}=${isLanguage(chosen) ? chosen : "en"}; Path=${frame.base}/console; Max-Age=${YEAR_SECONDS}; HttpOnly; SameSite=Lax`
        return Effect.succeed({ location: consolePath(frame, "me"), headers: { "set-cookie": cookie } })
      },
    },
  },
])
