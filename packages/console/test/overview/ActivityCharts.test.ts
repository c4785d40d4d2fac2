import { activityCharts } from "@data-cabinet/console/overview/ActivityCharts"
import { WORDS } from "@data-cabinet/console/words/Words"
import { assert, it } from "vitest"

it("activityCharts counts imported events apart, so that they do not flatten the others", () => {
  const hour = (at: number, events: number, history: number) => ({
    at: `2026-11-2${at}T10:00:00Z`,
    events,
    repeats: 0,
    empty: 0,
    history,
  })
  const activity = { hours: [hour(0, 10, 0), hour(1, 200_005, 200_000), hour(2, 5, 0)], deliveryHours: [] }
  const html = activityCharts({ words: WORDS.en } as never, activity as never, "UTC", false).text
  const heights = [...html.matchAll(/<rect x="[^"]*" y="[^"]*" width="[^"]*" height="(\d+)"/g)].map(([, one]) => one)
  assert.deepStrictEqual(heights, ["100", "50", "50"])
  assert.include(html, "<b>20</b>")
  assert.include(html, "200,000 events from files and first polls")
})
