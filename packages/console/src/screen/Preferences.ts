/**
 * A person's settings for this browser alone: the language, colours and height of rows, and whether single letters are
 * shortcuts. Kept in cookies that hold nothing else.
 */
import { markup, Html } from "@data-cabinet/http-node/html/Html"
import { chooseLanguage, type Language } from "@data-cabinet/http-node/html/Language"
import type { Request } from "@data-cabinet/http-node/server/Request"
import { Effect } from "effect"
import { postForm } from "../html/PostForm.ts"
import { consolePath, type Frame, type Screen } from "../html/Shell.ts"
import { act, fieldOf } from "./Act.ts"
import type { ConsoleScreen } from "./ConsoleScreen.ts"

const LANGUAGE_COOKIE = "cabinet-language"

const LANGUAGES = { en: "English", ru: "Русский" } as const satisfies Record<Language, string>

const isLanguage = (word: string | undefined): word is Language => word !== undefined && Object.hasOwn(LANGUAGES, word)

/** The chosen language, else the best of the browser's. */
export const languageOf = (headers: Request["headers"]): Language => {
  const [, chosen] = /(?:^|;\s*)cabinet-language=([a-z]+)/.exec(headers["cookie"] ?? "") ?? []
  return isLanguage(chosen) ? chosen : chooseLanguage(headers["accept-language"])
}

/** False if the visitor switched off single-letter shortcuts, as users of speech input do (WCAG 2.1.4). */
export const lettersOf = (headers: Request["headers"]): boolean =>
  !/(?:^|;\s*)cabinet-keys=off(?:;|$)/.test(headers["cookie"] ?? "")

const THEMES = ["system", "light", "dark"] as const
const HEIGHTS = ["normal", "compact"] as const

const chosenOf = <A extends string>(
  headers: Request["headers"],
  name: string,
  all: readonly [A, ...ReadonlyArray<A>],
): A => {
  const [, chosen] = new RegExp(`(?:^|;\\s*)${name}=([a-z]+)`).exec(headers["cookie"] ?? "") ?? []
  return all.find((one) => one === chosen) ?? all[0]
}

/** The chosen colours and height of rows; colours follow the system's by default. */
export const lookOf = (headers: Request["headers"]): Frame["look"] => ({
  theme: chosenOf(headers, "cabinet-theme", THEMES),
  rows: chosenOf(headers, "cabinet-rows", HEIGHTS),
})

const YEAR_SECONDS = 31_536_000

/** A person who signs in elsewhere has no password here, and signs out there. */
const meScreen = (frame: Frame, hasSession: boolean): Screen => {
  const { words, language, actor } = frame
  const option = ([code, name]: [string, string]) =>
    markup`<label class="choice"><input type="radio" name="language" value="${code}"${code === language && new Html(" checked")}> <span lang="${code}">${name}</span></label>`
  const choice = (name: "theme" | "rows", values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(
      ([value, text]) =>
        markup`<label class="choice"><input type="radio" name="${name}" value="${value}"${value === frame.look[name] && new Html(" checked")}> <span>${text}</span></label>`,
    )
  const form = (path: string, body: Html) =>
    postForm({ path: consolePath(frame, path), kind: "card", body: markup`${body}<button>${words.save}</button>` })
  return {
    title: words.me.title,
    section: null,
    main: markup`<h1>${words.me.title}</h1>
<dl class="facts">
<dt>${words.me.name}</dt><dd>${actor?.name ?? null}</dd>
<dt>${words.me.role}</dt><dd>${words.roles[actor?.role ?? ""] ?? actor?.role ?? null}</dd>
</dl>
${form("me", markup`<fieldset><legend>${words.me.language}</legend>${Object.entries(LANGUAGES).map(option)}</fieldset>`)}
<div id="look">${form("me/look", markup`<fieldset><legend>${words.me.colours}</legend>${choice("theme", words.me.themes)}</fieldset><fieldset><legend>${words.me.rows}</legend>${choice("rows", words.me.heights)}</fieldset>`)}</div>
${form("me/keys", markup`<fieldset><legend>${words.keys.title}</legend><label class="choice"><input type="checkbox" name="letters" value="on"${frame.letters && new Html(" checked")}> <span>${words.keys.letters}</span></label></fieldset>`)}
${hasSession && markup`<p class="links"><a href="${consolePath(frame, "sessions")}">${words.people.mySessions}</a> · <a href="${consolePath(frame, "password")}">${words.session.newPassword}</a> · <a href="${consolePath(frame, "sign-out")}">${words.session.signOut}</a></p>`}`,
  }
}

const kept = (frame: Frame, ...settings: ReadonlyArray<readonly [name: string, value: string]>) => ({
  location: consolePath(frame, "me"),
  cookies: settings.map(
    ([name, value]) => `${name}=${value}; Path=${frame.base}/console; Max-Age=${YEAR_SECONDS}; HttpOnly; SameSite=Lax`,
  ),
})

export const preferenceScreens = Effect.succeed<ReadonlyArray<ConsoleScreen>>([
  {
    path: "/console/me",
    action: "self.read",
    get: ({ frame, session }) => Effect.succeed({ screen: meScreen(frame, session !== null) }),
    post: {
      action: "self.read",
      repeat: "allowed",
      respond: ({ frame, form }) => {
        const chosen = form.find(([name]) => name === "language")?.[1]
        return Effect.succeed(kept(frame, [LANGUAGE_COOKIE, isLanguage(chosen) ? chosen : "en"]))
      },
    },
  },
  act({
    path: "/console/me/keys",
    action: "self.read",
    home: () => "me",
    repeat: "allowed",
    respond: (call) =>
      Effect.succeed(kept(call.frame, ["cabinet-keys", fieldOf(call, "letters") === "on" ? "on" : "off"])),
  }),
  act({
    path: "/console/me/look",
    action: "self.read",
    home: () => "me",
    repeat: "allowed",
    respond: (call) => {
      const theme = THEMES.find((one) => one === fieldOf(call, "theme")) ?? "system"
      const rows = HEIGHTS.find((one) => one === fieldOf(call, "rows")) ?? "normal"
      return Effect.succeed(kept(call.frame, ["cabinet-theme", theme], ["cabinet-rows", rows]))
    },
  }),
])
