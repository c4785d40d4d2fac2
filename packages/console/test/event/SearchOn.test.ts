import type { EventList } from "@data-cabinet/core/event/EventBrowser"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { searchOn } from "@data-cabinet/console/event/EventScreens"

/** A list of so many pages, each read in a second; the last one has an event. */
const walk = (pages: number) => {
  const asked: Array<string | undefined> = []
  const page = (cursor: string | undefined) => {
    asked.push(cursor)
    const at = Number(cursor ?? 1)
    const isLast = at === pages
    const list = { items: isLast ? [{}] : [], nextCursor: isLast ? null : String(at + 1), searchedTo: null }
    return Effect.as(TestClock.adjust("1 second"), list as unknown as EventList)
  }
  return { asked, page }
}

it.effect("searchOn goes on while its pages are empty, until it finds an event", () =>
  Effect.gen(function* () {
    const { asked, page } = walk(3)
    assert.lengthOf((yield* searchOn(page, undefined)).items, 1)
    assert.deepStrictEqual(asked, [undefined, "2", "3"])
  }),
)

it.effect("searchOn ends after some seconds with the place from which it goes on", () =>
  Effect.gen(function* () {
    const { asked, page } = walk(100)
    const list = yield* searchOn(page, "7")
    assert.deepStrictEqual([list.items, list.nextCursor], [[], "11"])
    assert.lengthOf(asked, 4)
    const { asked: again, page: next } = walk(12)
    assert.lengthOf((yield* searchOn(next, list.nextCursor!)).items, 1)
    assert.deepStrictEqual(again, ["11", "12"])
  }),
)
