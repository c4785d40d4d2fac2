/** The pictures of a table's columns: as cells below its headings, and each as a list that works without a script. */
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import { GLANCED_ROWS, PictureColumns } from "@data-cabinet/core/selection/PictureColumns"
import { SAMPLED_ROWS } from "@data-cabinet/core/selection/SampleWalk"
import { shownColumns } from "@data-cabinet/core/selection/ShownColumns"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Effect } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import type { Frame, Screen } from "../html/Shell.ts"
import { type ConsoleScreen, type Pairs, wantsFragment } from "../screen/ConsoleScreen.ts"
import { columnPart, withoutPart } from "./ColumnPart.ts"
import { basisText, drawing, partsOf, percentOf, type PictureData, pictureCells } from "./PictureCells.ts"
import { firstPage, valueOf, without, withQuery } from "../screen/SelectionLinks.ts"
import { tablePath } from "./TablePath.ts"

type Find = (schema: string, name: string) => Effect.Effect<ReadableTable, ManageError | StoreUnavailable>

const noColumn: ManageError = { code: "unknown_column", message: "This column no longer exists.", param: "column" }

/** A picture and the same as a list, whose links filter. */
const pictureList = (frame: Frame, data: PictureData): Html => {
  const { table: words } = frame.words
  const [picture] = data.pictures.columns
  if (picture === undefined) return markup`<p class="soft">${words.noPicture}</p>`
  const { rows, beyond, distinct, bars, values } = picture
  const parts = partsOf(frame, data, picture).filter((part) => part.rows > 0)
  const sign = data.pictures.basis === "all" ? "" : "≈ "
  const listed = parts.map((part) => {
    const number = `${sign}${words.number(part.rows)} · ${percentOf(frame, part.rows, rows)}`
    const shown = part.isEmpty ? markup`<i class="soft">${part.text}</i>` : markup`<span>${part.text}</span>`
    const face = markup`${shown}<b>${number}</b>`
    return part.href === null
      ? markup`<li><span class="facet">${face}</span></li>`
      : markup`<li><a class="facet" href="${part.href}">${face}</a></li>`
  })
  const others = Math.max(0, rows - beyond - parts.reduce((sum, part) => sum + part.rows, 0))
  const isDrawn = bars.length + values.length > 0
  return markup`${isDrawn && drawing(frame, data, picture)}<ul class="facets drawn">${listed}</ul>${distinct !== null && bars.length === 0 && markup`<p class="soft">${sign}${words.different(distinct)}</p>`}${values.length > 0 && others > 0 && markup`<p class="soft">${sign}${words.others(others)}</p>`}${beyond > 0 && markup`<p class="soft">${sign}${words.beyond(beyond)}</p>`}`
}

const back = (frame: Frame, { schema, name, pairs }: PictureData): Html =>
  markup`<p><a href="${withQuery(tablePath(frame, schema, name), pairs)}">← ${schema}.${name}</a></p>`

const ofColumn = (data: PictureData, name: string): PictureData => ({
  ...data,
  pictures: { ...data.pictures, columns: data.pictures.columns.filter(({ column }) => column === name) },
})

const allScreen = (frame: Frame, data: PictureData): Screen => {
  const { table: words } = frame.words
  const cards = data.columns.map(
    ({ name }) =>
      markup`<section class="card"><h2>${data.labels.get(name) ?? name}</h2>${pictureList(frame, ofColumn(data, name))}</section>`,
  )
  return {
    title: `${words.pictures} · ${data.schema}.${data.name}`,
    section: "tables",
    main: markup`${back(frame, data)}<h1>${words.pictures}</h1><p class="soft">${basisText(frame, data)}</p><div class="charts">${cards}</div>`,
  }
}

const oneScreen = (frame: Frame, data: PictureData, column: string): Screen => {
  const title = frame.words.table.pictureOf(data.labels.get(column) ?? column)
  return {
    title: `${title} · ${data.schema}.${data.name}`,
    section: "tables",
    main: markup`${back(frame, data)}<h1>${title}</h1><section class="card"><p class="soft">${basisText(frame, data)}</p>${pictureList(frame, data)}</section>`,
  }
}

export const pictureScreens = (found: Find) =>
  Effect.gen(function* () {
    const drawn = yield* PictureColumns
    const { timeZone } = yield* ConsoleSettings
    const path = "/console/tables/{schema}/{name}" as const

    const read = Effect.fnUntraced(function* (
      table: ReadableTable,
      pairs: Pairs,
      names: ReadonlyArray<string>,
      most: number,
    ) {
      const { schema, name, columns } = table.detail
      const data: PictureData = {
        schema,
        name,
        columns: names.flatMap((one) => table.columns.find((column) => column.name === one) ?? []),
        labels: new Map(columns.map((column) => [column.name, column.label])),
        pairs: firstPage(pairs),
        timeZone,
        pictures: yield* drawn.pictures({ table, params: pairs, columns: names, most }),
      }
      return data
    })

    const screens: ReadonlyArray<ConsoleScreen> = [
      {
        path: `${path}/pictures`,
        action: "row.read",
        get: Effect.fnUntraced(function* (call) {
          const [schema = "", name = ""] = call.path
          const table = yield* found(schema, name)
          const pairs = withoutPart(call.pairs)
          const shown = yield* Effect.fromResult(shownColumns(table, pairs))
          const part = columnPart(shown, call.pairs)
          const data = yield* read(table, pairs, part === null ? shown : shown.slice(part.from, part.to), GLANCED_ROWS)
          return wantsFragment(call)
            ? {
                fragment: pictureCells(call.frame, data)
                  .map(({ text }) => text)
                  .join(""),
              }
            : { screen: allScreen(call.frame, data) }
        }),
      },
      {
        path: `${path}/picture`,
        action: "row.read",
        get: Effect.fnUntraced(function* (call) {
          const [schema = "", name = ""] = call.path
          const table = yield* found(schema, name)
          const column = valueOf(call.pairs, "column") ?? ""
          if (!table.columns.some((one) => one.name === column)) return yield* Effect.fail(noColumn)
          const data = yield* read(table, without(call.pairs, "column"), [column], SAMPLED_ROWS)
          return wantsFragment(call)
            ? {
                fragment: markup`<p class="soft">${basisText(call.frame, data)}</p>${pictureList(call.frame, data)}`
                  .text,
              }
            : { screen: oneScreen(call.frame, data, column) }
        }),
      },
    ]
    return screens
  })
