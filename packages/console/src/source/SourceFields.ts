/** What a source sends: each field with its kinds, its share, since when it comes, and what has changed about it. */
import type { PayloadField, SourceShape } from "@data-cabinet/core/payload/ShapeFields"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { SIZES } from "../assets/Style.ts"
import { badge } from "../html/Badge.ts"
import { momentsIn } from "../html/Moment.ts"
import { consolePath, type Frame, type Screen } from "../html/Shell.ts"
import { percentOf } from "../table/PictureCells.ts"

/** What a source's own screen shows; the others are on a screen of their own. */
const SHOWN = 20

/** What the fields are shown with. */
export interface ShownFields {
  readonly shape: SourceShape
  readonly timeZone: string
}

const TONES = { new: "good", kind_changed: "warn", missing: "warn" } as const

/** The kinds of its values among the objects around it, of which the rest lacks it; nothing if all have one kind. */
const segments = (frame: Frame, { kinds, count, share }: PayloadField): HtmlValue => {
  if (kinds.length === 1 && (share ?? 1) === 1) return null
  const all = count / (share ?? 1)
  const size = (times: number) => `h${Math.max(1, Math.round((times / all) * SIZES))}`
  const rest = count < all && markup`<i class="rest ${size(all - count)}"></i>`
  return markup`<span class="segments" aria-hidden="true">${kinds.map(({ kind, count: times }) => markup`<i class="${size(times)}" title="${kind} · ${percentOf(frame, times, all)}"></i>`)}${rest}</span>`
}

const table = (frame: Frame, fields: ReadonlyArray<PayloadField>, timeZone: string): Html => {
  const { fields: words } = frame.words
  const moment = momentsIn(timeZone)
  const line = (field: PayloadField) => {
    const { path, kinds, firstAt, lastAt, change } = field
    return markup`<tr><th scope="row"><bdi class="mono">${path}</bdi>${path.endsWith("*") && markup`<small>${words.others}</small>`} ${change !== null && badge(TONES[change], words.changes[change])}</th><td>${kinds.map(({ kind }) => kind).join(", ")}${segments(frame, field)}</td><td>${field.share === null ? "" : percentOf(frame, field.share * 1e6, 1e6)}</td><td class="wide-only">${moment(firstAt)}</td><td class="wide-only">${moment(lastAt)}</td></tr>`
  }
  return markup`<div class="card flush"><table class="list"><thead><tr><th scope="col">${words.field}</th><th scope="col">${words.kinds}</th><th scope="col">${words.share}</th><th scope="col" class="wide-only">${words.since}</th><th scope="col" class="wide-only">${words.last}</th></tr></thead><tbody>${fields.map(line)}</tbody></table></div>`
}

const learned = (frame: Frame, { events, complete }: SourceShape): Html => {
  const { fields: words } = frame.words
  return markup`<p class="soft">${words.learned(events)}${!complete && markup` ${words.incomplete}`}</p>`
}

/** The first fields, those that changed before the others; nothing before the first event. */
export const fieldsSection = (frame: Frame, { shape, timeZone }: ShownFields): HtmlValue => {
  const { fields: words } = frame.words
  const { fields, sourceId } = shape
  if (fields.length === 0) return null
  const isChanged = ({ change }: PayloadField) => change !== null
  const shown = [...fields.filter(isChanged), ...fields.filter((field) => !isChanged(field))].slice(0, SHOWN)
  const more =
    fields.length > shown.length &&
    markup`<a href="${consolePath(frame, `sources/${sourceId}/fields`)}">${words.all(fields.length)}</a>`
  return markup`<section aria-labelledby="fields"><div class="head"><h2 id="fields">${words.title}</h2>${more}</div>${table(frame, shown, timeZone)}</section>`
}

/** All fields, in the order in which they first came. */
export const fieldsScreen = (frame: Frame, name: string, { shape, timeZone }: ShownFields): Screen => {
  const { fields: words } = frame.words
  const { fields, sourceId } = shape
  return {
    title: `${words.title} · ${name}`,
    section: "sources",
    main: markup`<p><a href="${consolePath(frame, `sources/${sourceId}`)}">← ${name}</a></p><div class="head"><h1>${words.title}</h1></div>
${learned(frame, shape)}${fields.length > 0 && table(frame, fields, timeZone)}`,
  }
}
