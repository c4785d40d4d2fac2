/** What the palette found: a screen of its own, and the list in the dialog that Ctrl K opens. */
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import { ICONS } from "../html/Icons.ts"
import { shortName } from "../html/LongText.ts"
import { consolePath, type Frame, type Screen } from "../html/Shell.ts"
import { foundIn, type PaletteEntry } from "./PaletteEntries.ts"

interface PaletteData {
  readonly entries: ReadonlyArray<PaletteEntry>
  readonly text: string
}

const face = ({ text, note }: PaletteEntry): Html =>
  markup`<bdi>${shortName(text)}</bdi>${note !== undefined && note !== "" && markup` <bdi class="soft">${note}</bdi>`}`

/** The options of the dialog's list: the field keeps the focus, and the script says which is chosen. */
export const paletteOptions = (frame: Frame, { entries, text }: PaletteData): string => {
  const { palette: words } = frame.words
  const groups = foundIn(entries, text)
  const count = groups.reduce((all, group) => all + group.entries.length + group.more, 0)
  if (count === 0) return markup`<p role="option" aria-disabled="true" data-announced>${words.none}</p>`.text
  return groups
    .map(({ group, entries: its, more }, at) => {
      const option = (entry: PaletteEntry, index: number) =>
        markup`<a role="option" id="go-${group}-${index}" tabindex="-1" href="${consolePath(frame, entry.path)}">${face(entry)}</a>`
      return markup`<div role="group" aria-label="${words.groups[group]}"><small aria-hidden="true">${words.groups[group]}${more > 0 && ` · ${words.more(more)}`}</small>${its.map(option)}</div>${at === 0 && markup`<p role="option" aria-disabled="true" class="hide" data-announced>${words.found(count)}</p>`}`
        .text
    })
    .join("")
}

export const paletteScreen = (frame: Frame, { entries, text }: PaletteData): Screen => {
  const { palette: words } = frame.words
  const groups = foundIn(entries, text)
  const line = (entry: PaletteEntry) =>
    markup`<li><a class="item" href="${consolePath(frame, entry.path)}">${face(entry)}</a></li>`
  const list =
    groups.length === 0
      ? markup`<div class="empty"><h2>${words.none}</h2></div>`
      : groups.map(
          ({ group, entries: its, more }) =>
            markup`<section class="card"><h2>${words.groups[group]}</h2><ul class="plain">${its.map(line)}</ul>${more > 0 && markup`<p class="soft">${words.more(more)}</p>`}</section>`,
        )
  return {
    title: words.title,
    section: null,
    main: markup`<h1>${words.title}</h1><form class="tools flat" method="get" action="${consolePath(frame, "go")}" role="search"><label class="field">${ICONS.search}<input type="search" name="q" value="${text}" aria-label="${words.field}" placeholder="${words.field}" data-key="/"></label><button>${words.find}</button></form>${list}`,
  }
}
