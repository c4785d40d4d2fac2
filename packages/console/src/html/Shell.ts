/**
 * The frame of every screen: head, skip link, sections, and the signed-in person. Links are built from the cabinet's
 * base address, never from the request, so that the console works below any path and behind any proxy.
 */
import { type Action, mayDo, type Role } from "@data-cabinet/core/key/Role"
import { Html, markup } from "@data-cabinet/http-node/html/Html"
import type { HtmlValue } from "@data-cabinet/http-node/html/Html"
import type { Language } from "@data-cabinet/http-node/html/Language"
import { assetPath } from "../assets/Assets.ts"
import { isolated } from "../words/IsolatedWords.ts"
import type { Words } from "../words/Words.ts"
import { ICONS } from "./Icons.ts"
import { keySheet, type Lead } from "./KeySheet.ts"

/**
 * The sections of the navigation, in order: the first part of their addresses (empty for the first section), and the
 * action that each requires.
 */
const SECTIONS = {
  overview: "source.read",
  inbox: "event.read",
  tables: "row.read",
  events: "event.read",
  deliveries: "delivery.read",
  sources: "source.read",
  files: "import.read",
  integrations: "address.read",
  people: "person.read",
} as const satisfies Record<string, Action>
export type Section = keyof typeof SECTIONS

/** What every screen knows about its visitor and its place. */
export interface Frame {
  /** The path of the cabinet's base address without a trailing slash. */
  readonly base: string
  /** The cabinet's public address, for texts copied elsewhere. */
  readonly baseUrl: string
  readonly language: Language
  readonly words: Words
  /** Whether keys of a single letter do something. */
  readonly letters: boolean
  readonly look: { readonly theme: "system" | "light" | "dark"; readonly rows: "normal" | "compact" }
  /** The signed-in person; null on the sign-in screens. */
  readonly actor: { readonly name: string; readonly role: Role } | null
}

export interface Screen {
  /** For the tab and the heading of the history. */
  readonly title: string
  readonly section: Section | null
  readonly main: Html
  /** The main part needs the whole width and height: a table. */
  readonly wide?: boolean
  /** It has a list whose lines open beside it. */
  readonly walked?: boolean
}

/** Whether the visitor may do this; screens do not offer the rest. */
export const may = ({ actor }: Pick<Frame, "actor">, action: Action): boolean =>
  actor !== null && mayDo(actor.role, action)

/** The address of a screen. */
export const consolePath = ({ base }: Pick<Frame, "base">, path = ""): string => `${base}/console/${path}`

/** The whole page of a screen. */
export const shell = (frame: Frame, screen: Screen): string => {
  const { words, language, actor, look } = frame
  return markup`<!doctype html>
<html lang="${language}"${look.theme !== "system" && markup` data-theme="${look.theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${look.theme === "system" ? "light dark" : look.theme}">
<title>${isolated(screen.title)} · ${words.product}</title>
<link rel="icon" href="${assetPath(frame.base, "icon.svg")}">
<link rel="stylesheet" href="${assetPath(frame.base, "console.css")}">
<script type="module" src="${assetPath(frame.base, "console.js")}"></script>
</head>
<body class="${screen.wide === true ? "wide" : "page"}${look.rows === "compact" && " compact"}${actor === null && " out"}" data-letters="${frame.letters ? "on" : "off"}">
<a class="skip" href="#main">${words.skip}</a>
${actor === null ? markup`<header class="brand">${ICONS.cabinet}<span>${words.product}</span></header>` : header(frame, screen.section, actor)}
<main id="main" tabindex="-1">
${screen.main}
</main>
${actor !== null && paletteDialog(frame)}${actor !== null && keySheet(frame, sectionsOf(frame), screen.wide === true ? "table" : screen.walked === true ? "list" : null)}<p id="said" class="said" role="status"></p>
</body>
</html>
`.text
}

/** The sections that the visitor may see, with their addresses. */
export const sectionsOf = (frame: Frame): ReadonlyArray<Lead> =>
  Object.entries(SECTIONS)
    .filter(([, action]) => may(frame, action))
    .map(([section]) => ({
      section: section as Section,
      path: consolePath(frame, section === "overview" ? "" : section),
    }))

const header = (frame: Frame, section: Section | null, actor: NonNullable<Frame["actor"]>): Html => {
  const { words } = frame
  const link = ({ section: one, path }: Lead): HtmlValue =>
    markup`<li><a href="${path}"${one === section ? new Html(' aria-current="page"') : null}>${words.sections[one]}</a></li>`
  return markup`<header class="bar">
<a class="brand" href="${consolePath(frame)}" aria-label="${words.product}">${ICONS.cabinet}<span>${words.product}</span></a>
<nav aria-label="${words.navigation}"><ul>${sectionsOf(frame).map(link)}</ul></nav>
<a class="button quiet mini" href="${consolePath(frame, "go")}" data-palette aria-keyshortcuts="Control+K Meta+K">${ICONS.search}<span class="hide">${words.palette.title}</span><kbd class="wide-only" aria-hidden="true">Ctrl K</kbd></a>
<button type="button" class="quiet mini help" popovertarget="keys" aria-label="${words.keys.title}">?</button>
<a class="who" href="${consolePath(frame, "me")}"><b>${actor.name}</b> <span>${words.roles[actor.role] ?? actor.role}</span></a>
</header>`
}

/** The palette before it is opened, so that the field is there for the first key. */
const paletteDialog = ({ words: { palette: words, close } }: Frame): Html =>
  markup`<dialog class="palette" aria-label="${words.title}"><div class="row"><label class="field">${ICONS.search}<input type="search" name="q" role="combobox" aria-expanded="true" aria-controls="palette" aria-autocomplete="list" autocomplete="off" spellcheck="false" aria-label="${words.field}" placeholder="${words.field}"></label><button type="button" class="quiet mini" data-shut aria-label="${close}">${ICONS.cross}</button></div><div id="palette" role="listbox" aria-label="${words.title}"></div><p class="hide" role="status"></p></dialog>
`
