import { eventListScreen, type EventListData } from "@data-cabinet/console/event/EventListScreen"
import { WORDS } from "@data-cabinet/console/words/Words"
import { unescapeHtml } from "@data-cabinet/http-node/html/Html"
import { assert, it } from "vitest"

const frame = { base: "/data", words: WORDS.en, actor: { name: "Ada", role: "owner" } } as never

const shown = (list: EventListData["list"], pairs: EventListData["pairs"]) =>
  eventListScreen(frame, { list, pairs, sources: [], timeZone: "UTC", live: null, trash: false }).main.text

const EARLY = { items: [], nextCursor: "next/1", searchedTo: "2026-11-20T08:30:00.000Z" }

it("eventListScreen says how far an interrupted search looked, and continues from there", () => {
  const html = shown(EARLY, [
    ["text", "needle & co"],
    ["cursor", "before"],
  ])
  assert.match(html, /<h2>No event matches since [^<]*20[^<]*<\/h2>/)
  assert.include(html, WORDS.en.event.olderUnsearched)
  assert.notInclude(html, `<h2>${WORDS.en.event.noMatch}</h2>`)
  const next = new URL(unescapeHtml(/<a rel="next" href="([^"]*)"/.exec(html)![1]!), "http://cabinet.test")
  assert.strictEqual(next.pathname, "/data/console/events")
  assert.deepStrictEqual(
    [...next.searchParams],
    [
      ["text", "needle & co"],
      ["cursor", "next/1"],
    ],
  )
})

it("eventListScreen says that no event matches only after searching all", () => {
  const html = shown({ items: [], nextCursor: null, searchedTo: null }, [["text", "needle"]])
  assert.include(html, `<h2>${WORDS.en.event.noMatch}</h2>`)
  assert.notInclude(html, "since")
  assert.notInclude(html, 'rel="next"')
})
