import { pageLinks, shownPage } from "@data-cabinet/console/screen/IdPages"
import { WORDS } from "@data-cabinet/console/words/Words"
import type { IdQuery } from "@data-cabinet/core/pagination/IdPages"
import { Effect } from "effect"
import { assert, it } from "vitest"

const frame = { base: "/data", words: WORDS.en } as never

const IDS = Array.from({ length: 201 }, (_, n) => ({ id: 2 * n + 1 }))
const list = ({ after, limit }: IdQuery) => Effect.succeed(IDS.filter(({ id }) => id > after).slice(0, limit))
const shown = (given?: string) => {
  const page = Effect.runSync(shownPage(list, given))
  const links = pageLinks(frame, page, "tokens", "after", "#list")
  return { ids: page.items.map(({ id }) => id), html: links === false ? "" : (links as { readonly text: string }).text }
}

it("pages lead from one to the next, each item is on one of them, and the last one has only a way back", () => {
  const first = shown()
  assert.lengthOf(first.ids, 100)
  assert.include(first.html, `<a rel="next" href="/data/console/tokens?after=199#list">`)
  assert.notInclude(first.html, WORDS.en.table.firstPage)
  const second = shown("199")
  const third = shown("399")
  assert.deepStrictEqual(
    [...first.ids, ...second.ids, ...third.ids],
    IDS.map(({ id }) => id),
  )
  assert.include(third.html, `<a href="/data/console/tokens#list">`)
  assert.notInclude(third.html, "next")
})

it("a page that nobody named is the first, and a list of one page has no links", () => {
  for (const odd of ["-1", "x", "1e3", ""]) assert.deepStrictEqual(shown(odd).ids, shown().ids)
  const few = Effect.runSync(shownPage(() => Effect.succeed(IDS.slice(0, 100)), undefined))
  assert.isFalse(pageLinks(frame, few, "tokens"))
})
