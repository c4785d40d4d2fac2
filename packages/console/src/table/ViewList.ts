/** The saved views in the list of tables, and the menu that saves one. */
import type { SavedView } from "@data-cabinet/core/view/SavedView"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { confirmed } from "../html/Confirmation.ts"
import { ICONS } from "../html/Icons.ts"
import { menu, menuBody, menuButton } from "../html/Menu.ts"
import { consolePath, type Frame, may } from "../html/Shell.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { firstPage, queryText } from "../screen/SelectionLinks.ts"
import { tablePath } from "./TablePath.ts"
import { postForm } from "../html/PostForm.ts"

/** A view, and whether the visitor may remove it. */
export interface ListedView {
  readonly view: SavedView
  readonly removable: boolean
}

export const viewPath = (frame: Frame, { schema, name, query }: SavedView): string =>
  `${tablePath(frame, schema, name)}${query === "" ? "" : `?${query}`}`

const removeView = (frame: Frame, { id, title, shared }: SavedView): HtmlValue =>
  confirmed(frame, {
    id: `remove-view-${id}`,
    face: frame.words.table.remove,
    kind: "quiet",
    says: shared ? frame.words.ask.sharedView(title) : frame.words.ask.view(title),
    path: consolePath(frame, `views/${id}/remove`),
    act: frame.words.ask.viewNow,
  })

export const viewList = (frame: Frame, views: ReadonlyArray<ListedView>): HtmlValue => {
  const { table: words, tables, view: ofView } = frame.words
  if (views.length === 0) return null
  const line = ({ view, removable }: ListedView) =>
    markup`<tr><th scope="row"><a href="${viewPath(frame, view)}"><bdi>${view.title}</bdi></a></th><td class="soft"><span class="wide-only">${view.schema}.</span>${view.name}</td><td class="wide-only soft">${view.shared ? ofView.shared : ofView.own} · <bdi>${view.maker.name}</bdi></td><td class="n">${removable && removeView(frame, view)}</td></tr>`
  return markup`<section class="card flush" aria-label="${words.views}"><table class="list stacked"><caption>${words.views}</caption>
<thead><tr><th scope="col">${words.viewTitle}</th><th scope="col">${tables.name}</th><th scope="col" class="wide-only">${ofView.whose}</th><th scope="col"><span class="hide">${words.remove}</span></th></tr></thead><tbody>${views.map(line)}</tbody></table></section>`
}

/** The most views to choose from in a title; the list of tables has all. */
const MOST_TITLES = 30

const queryOf = (pairs: Pairs): string => new URLSearchParams(queryText(firstPage(pairs))).toString()

export interface ViewTitle {
  readonly table: { readonly detail: { readonly schema: string; readonly name: string } }
  readonly pairs: Pairs
  readonly views: ReadonlyArray<SavedView>
}

/** The name of the table, or of the saved view that is shown: a menu of its views, if it has any. The paragraph behind it is left open. */
export const viewTitle = (frame: Frame, { table, pairs, views }: ViewTitle): Html => {
  const { schema, name } = table.detail
  const { table: words } = frame.words
  if (views.length === 0) return markup`<h1>${name}</h1><p class="soft">${schema}`
  const query = queryOf(pairs)
  const shown = views.find((view) => view.query === query)
  const link = (href: string, text: string, isOn: boolean) =>
    markup`<a class="item" href="${href}"${isOn && new Html(' aria-current="page"')}><bdi>${text}</bdi></a>`
  const all = link(tablePath(frame, schema, name), words.allRows, query === "")
  const body = markup`${all}${views.slice(0, MOST_TITLES).map((view) => link(viewPath(frame, view), view.title, view === shown))}${views.length > MOST_TITLES && markup`<a class="item" href="${consolePath(frame, "tables")}">${words.views} →</a>`}`
  const face = markup`<bdi>${shown?.title ?? name}</bdi>${ICONS.down}`
  return markup`<h1>${menuButton({ id: "views", face, kind: "quiet", body })}</h1>${menuBody({ id: "views", face, body })}<p class="soft">${schema}${shown !== undefined && `.${name}`}`
}

export const saveMenu = (frame: Frame, schema: string, name: string, pairs: Pairs): HtmlValue => {
  const { table: words, view, latest } = frame.words
  if (!may(frame, "view.change")) return null
  return menu({
    id: "save-view",
    face: markup`${ICONS.star}<span>${view.save}</span>`,
    body: postForm({
      path: consolePath(frame, "views"),
      body: markup`<input type="hidden" name="schema" value="${schema}"><input type="hidden" name="name" value="${name}"><input type="hidden" name="query" value="${queryText(firstPage(pairs))}">
<label>${words.viewTitle}<input name="title" required maxlength="200" autocomplete="off"></label><label class="choice"><input type="checkbox" name="shared" value="on"> ${words.shareView}</label><button class="main">${words.saveView}</button>${may(frame, "latest_view.create") && markup`<a class="item" href="${tablePath(frame, schema, name)}/latest">${latest.link}</a>`}`,
    }),
  })
}
