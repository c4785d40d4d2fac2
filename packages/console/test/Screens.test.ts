/** Every address that shows a screen is among those that are looked at in a browser, in every size, colour and language. */
import { allScreens } from "@data-cabinet/console/Screens"
import type { ConsoleScreen } from "@data-cabinet/console/screen/ConsoleScreen"
import { Context, Effect, Exit, Scope } from "effect"
import { assert, it } from "vitest"
import { SCREENS } from "../../../test/browser/support/screenList.ts"

/** Whatever is asked of it: to list the screens, nothing of a cabinet is needed. */
const anything: unknown = new Proxy(() => undefined, {
  get: (_, name) => (typeof name === "symbol" || name === "then" ? undefined : anything),
  apply: () => Effect.succeed(anything),
})

const isOfCabinet = (key: unknown) => typeof key === "string" && key.startsWith("@data-cabinet/")

const screens = (): ReadonlyArray<ConsoleScreen> => {
  const services = new Map<string, unknown>([[Scope.Scope.key, Scope.makeUnsafe()]])
  const context = Context.makeUnsafe(
    new Proxy(services, {
      get: (map, name) => {
        if (name === "get") return (key: string) => (isOfCabinet(key) ? anything : map.get(key))
        if (name === "has") return (key: string) => isOfCabinet(key) || map.has(key)
        const value: unknown = Reflect.get(map, name, map)
        return typeof value === "function" ? value.bind(map) : value
      },
    }),
  )
  return Effect.runSyncWith(context as Context.Context<Effect.Services<typeof allScreens>>)(allScreens)
}

/** A form without a screen of its own, whose address leads to another. */
const isAct = ({ post, get, path }: ConsoleScreen) => {
  if (post === undefined) return false
  const segments = path.split("/").map(() => "1")
  const call = { frame: { base: "" }, path: segments, pairs: [] }
  const exit = Effect.runSyncExit(get(call as never))
  return Exit.isSuccess(exit) && "location" in exit.value
}

/** What is no screen: pieces of one that the script asks for, streams, files, and addresses that lead to another. */
const NO_SCREENS: ReadonlyArray<string> = []

it("every screen is in the list of those that are looked at", () => {
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
