/** The list of shortcuts, which `?` and a button open: the browser's own popover, so it needs no script. */
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import type { Frame, Section } from "./Shell.ts"

/** The letters that lead to sections after `g`: the script reads them from the sheet. */
const LETTERS: Readonly<Record<Section, string>> = {
  overview: "o",
  inbox: "m",
  tables: "t",
  deliveries: "d",
  events: "e",
  sources: "s",
  files: "f",
  integrations: "i",
  people: "p",
}

const OF = {
  table: ["arrows", "ends", "enter", "walk", "copy", "widths", "escape"],
  list: ["walkList", "escapeList"],
} as const

/** What the keys step through on a screen. */
export type Walked = keyof typeof OF

const KEYS: Readonly<Record<(typeof OF)[Walked][number], ReadonlyArray<string>>> = {
  arrows: ["↑", "↓", "←", "→"],
  ends: ["Home", "End", "Page Up", "Page Down"],
  enter: ["Enter"],
  walk: ["j", "k"],
  copy: ["c"],
  widths: ["<", ">"],
  escape: ["Esc"],
  walkList: ["j", "k"],
  escapeList: ["Esc"],
}

const keys = (all: ReadonlyArray<string>) => all.map((key) => markup`<kbd>${key}</kbd> `)

/** A section that the visitor may see, with its address. */
export interface Lead {
  readonly section: Section
  readonly path: string
}

export const keySheet = (
  { words }: Pick<Frame, "words">,
  sections: ReadonlyArray<Lead>,
  walked: Walked | null,
): Html => {
  const { keys: said } = words
  const line = (all: ReadonlyArray<string>, text: string) => markup`<dt>${keys(all)}</dt><dd>${text}</dd>`
  const leads = sections.map(
    ({ section, path }) =>
      markup`<dt>${keys(["g", LETTERS[section]])}</dt><dd><a href="${path}" data-go="${LETTERS[section]}">${words.sections[section]}</a></dd>`,
  )
  return markup`<div class="menu sheet" popover id="keys" role="dialog" aria-labelledby="keys-title"><h2 id="keys-title">${said.title}</h2><dl class="facts">${line(["Ctrl K"], said.palette)}${line(["/"], said.search)}${line(["?"], said.sheet)}${line(["."], said.news)}${leads}${walked !== null && OF[walked].map((one) => line(KEYS[one], said[one]))}</dl></div>`
}
