/** Every URL of a screen is among those that are inspected in a browser, in every size, colour scheme and language. */
import type { ConsoleScreen } from "@data-cabinet/console/screen/ConsoleScreen"
import { doneKey, UNDO } from "@data-cabinet/console/screen/DoneLine"
import { WORDS } from "@data-cabinet/console/words/Words"
import { EXPORT_FORMATS } from "@data-cabinet/core/export/ExportFormat"
import { Effect, Exit } from "effect"
import { assert, it } from "vitest"
import { CONFIRMED_ACTS, HARMLESS_ACTS } from "../../../test/browser/support/confirmedActs.ts"
import { SCREENS } from "../../../test/browser/support/screenList.ts"
import { screens } from "./support/AllScreens.ts"

/** Whether a form has no screen of its own: a GET of its URL redirects to another. */
const isAct = ({ post, get, path }: ConsoleScreen) => {
  if (post === undefined) return false
  const segments = path.split("/").map(() => "1")
  const call = { frame: { base: "" }, path: segments, pairs: [] }
  const exit = Effect.runSyncExit(Effect.suspend(() => get(call as never)))
  return Exit.isSuccess(exit) && "location" in exit.value
}

/** Not screens: fragments that the script requests, streams, files, and URLs that redirect. */
const NO_SCREENS: ReadonlyArray<string> = [
  "/console",
  "/console/deliveries/export.csv",
  "/console/deliveries/export.ndjson",
  "/console/deliveries/live",
  "/console/events/{id}/original",
  "/console/inbox/{id}/export.csv",
  "/console/inbox/{id}/export.ndjson",
  "/console/live",
  "/console/sources/{id}/recent",
  "/console/tables/{schema}/{name}/erase",
  ...EXPORT_FORMATS.map((format) => `/console/tables/{schema}/{name}/export.${format}`),
  "/console/tables/{schema}/{name}/filter",
  "/console/tables/{schema}/{name}/jump",
  "/console/tables/{schema}/{name}/rows",
  "/console/tables/{schema}/{name}/select",
  "/console/views/{id}",
]

/** Their response itself shows the result. */
const SHOWN: ReadonlyArray<string> = [
  "addresses/{id}/ping",
  "addresses/{id}/preview",
  "addresses/{id}/reveal",
  "addresses/{id}/rotate",
  "addresses/{id}/test",
  "events/erase",
  "files",
  "keys",
  "people",
  "people/{id}/link",
  "polls/try",
  "polls/{id}/try",
  "report-login",
  "sign-in",
  "sources/{id}/late",
  "sources/{id}/reveal",
  "sources/{id}/rotate",
  "tokens",
  "welcome",
]

it("every act that leads to a screen has a sentence for it", () => {
  const acts = screens().flatMap((screen) => (screen.post === undefined ? [] : [doneKey(screen)]))
  assert.deepStrictEqual(acts.filter((key) => !SHOWN.includes(key)).toSorted(), Object.keys(WORDS.en.done).toSorted())
})

it("every act can be undone, is confirmed, or takes nothing away", () => {
  const acts = screens().flatMap((screen) => (screen.post === undefined ? [] : [doneKey(screen)]))
  assert.deepStrictEqual([...Object.keys(UNDO), ...CONFIRMED_ACTS, ...HARMLESS_ACTS].toSorted(), acts.toSorted())
})

it("every screen is in the list of inspected screens", () => {
  const patterns = screens().filter((screen) => !isAct(screen))
  const matches = (pattern: string, path: string) => {
    const [names, segments] = [pattern.split("/"), path.split("/")]
    return names.length === segments.length && names.every((name, at) => name.startsWith("{") || name === segments[at])
  }
  const byParameters = patterns.map(({ path }) => path).sort((a, b) => a.split("{").length - b.split("{").length)
  const seen = new Set(
    SCREENS.map((screen) => {
      const path = `/console/${screen.split("?")[0]}`
      const pattern = byParameters.find((one) => matches(one, path))
      assert.isDefined(pattern, `${screen} is no screen`)
      return pattern
    }),
  )
  assert.deepStrictEqual(byParameters.filter((path) => !seen.has(path)).sort(), [...NO_SCREENS].sort())
})
