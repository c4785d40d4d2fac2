/**
 * Erasure on request, by conditions for fields: matching events are counted first, and erased once their number is
 * typed.
 */
import type { FieldFilters } from "@data-cabinet/core/delivery/FieldFilter"
import type { ErasureCounts } from "@data-cabinet/core/event/Erasure"
import type { Source } from "@data-cabinet/core/source/Source"
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { options } from "../html/Choice.ts"
import { postForm } from "../html/PostForm.ts"
import { consolePath, type Frame, type Screen } from "../html/Shell.ts"
import { filterChoice } from "../integration/FilterChoice.ts"
import { type KnownPaths, namesList } from "../integration/KnownPaths.ts"
import { eventTabs } from "../html/Tabs.ts"

export interface ErasureForm {
  readonly filters: FieldFilters
  /** Null for all sources. */
  readonly sourceId: number | null
}

/** The progress of counting or erasing; `next` is null at the end. */
export interface ErasureProgress {
  readonly is: "counted" | "erased"
  readonly counts: ErasureCounts
  readonly next: number | null
}

export interface ErasureData {
  readonly sources: ReadonlyArray<Source>
  readonly known: KnownPaths
  readonly form: ErasureForm
  readonly progress: ErasureProgress | null
}

/** The number of everything to be erased, which the user types to confirm. */
export const totalOf = ({ events, repeats }: ErasureCounts): number => events + repeats

const hidden = (name: string, value: string | number) => markup`<input type="hidden" name="${name}" value="${value}">`

/** The same conditions, and the progress of the last form. */
const carried = ({ filters, sourceId }: ErasureForm, { counts, next }: ErasureProgress) =>
  markup`${filters.map(({ fc, fo, fv }) => [hidden("fc", fc), hidden("fo", fo), hidden("fv", fv)])}${hidden("source_id", sourceId ?? "")}${Object.entries(counts).map(([name, count]: readonly [string, number]) => hidden(name, count))}${hidden("after", next ?? 0)}`

const facts = (frame: Frame, { events, repeats, rows, originals, deliveries }: ErasureCounts) => {
  const { erasure: words } = frame.words
  return markup`<dl class="facts"><dt>${words.events}</dt><dd>${events}</dd><dt>${words.repeats}</dt><dd>${repeats}</dd><dt>${words.rows}</dt><dd>${rows}</dd><dt>${words.originals}</dt><dd>${originals}</dd><dt>${words.deliveries}</dt><dd>${deliveries}</dd></dl>`
}

const progressBox = (frame: Frame, { form, progress }: ErasureData): HtmlValue => {
  if (progress === null) return null
  const { erasure: words } = frame.words
  const { is, counts, next } = progress
  const path = consolePath(frame, "events/erase")
  const total = totalOf(counts)
  const goOn = (text: string, more: HtmlValue) =>
    postForm({ path, body: markup`${carried(form, progress)}${more}<button class="main">${text}</button>` })
  if (is === "erased") {
    const more = markup`${hidden("act", "erase")}${hidden("goes_on", "yes")}`
    return markup`<div class="box ${next === null ? "good" : ""}" role="status"><div class="grow"><p><b>${next === null ? words.erased : words.erasedSoFar}</b></p>${facts(frame, counts)}${next !== null && goOn(words.eraseOn, more)}</div></div>`
  }
  const erase = markup`${carried(form, { ...progress, next: null })}${hidden("act", "erase")}<p>${frame.words.event.eraseHint}</p><label>${words.typeTotal(total)}<input name="confirm" required inputmode="numeric" autocomplete="off"></label><button class="danger">${words.erase}</button>`
  return markup`<div class="box" role="status"><div class="grow"><p><b>${next !== null ? words.countedSoFar : total === 0 ? words.nothing : words.counted}</b></p>${facts(frame, counts)}
${next !== null ? goOn(words.countOn, hidden("act", "count")) : total > 0 && postForm({ path, kind: "form", body: erase })}</div></div>`
}

export const erasureScreen = (frame: Frame, data: ErasureData): Screen => {
  const { erasure: words, event } = frame.words
  const { sources, known, form } = data
  const source = options(
    [["", event.allSources] as const, ...sources.map(({ id, name }) => [String(id), name] as const)],
    String(form.sourceId ?? ""),
  )
  const body = markup`${hidden("act", "count")}<label>${event.source}<select name="source_id">${source}</select></label>
${filterChoice(frame, form.filters, { legend: words.where, hint: words.whereHint })}${namesList(known)}<button>${words.count}</button>`
  return {
    title: words.title,
    section: "events",
    main: markup`<div class="head"><h1>${words.title}</h1></div>${eventTabs(frame, "events/erase")}
<section class="card" aria-label="${words.title}"><p class="soft">${words.hint}</p>
${postForm({ path: consolePath(frame, "events/erase"), kind: "form", body })}
${progressBox(frame, data)}</section>`,
  }
}
