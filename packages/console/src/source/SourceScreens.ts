/** The screens and acts of sources. */
import { type Source, SOURCE_ENCODINGS, type SourceWithSecret } from "@data-cabinet/core/source/Source"
import { intakePath } from "@data-cabinet/core/source/SourceJson"
import { Sources } from "@data-cabinet/core/source/Sources"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Effect, Option } from "effect"
import { consolePath, type Frame } from "../html/Shell.ts"
import { act, fieldOf, idOf } from "../screen/Act.ts"
import type { ConsoleScreen } from "../screen/ConsoleScreen.ts"
import { sourceListScreen, sourceScreen } from "./SourceScreen.ts"

const home = ([id]: ReadonlyArray<string>) => `sources/${id}`

const revealed = (frame: Frame, source: SourceWithSecret) => ({
  screen: sourceScreen(frame, source, `${frame.baseUrl}${intakePath(source)}`),
})

export const sourceScreens = Effect.gen(function* () {
  const sources = yield* Sources
  const found = Effect.fnUntraced(function* (id: number) {
    const source: Option.Option<Source> = id === 0 ? Option.none() : yield* sources.get(id)
    if (Option.isSome(source)) return source.value
    return yield* Effect.fail<ManageError>({ code: "no_such_source", message: "There is no source with this id." })
  })
  const path = "/console/sources/{id}" as const
  const list: ConsoleScreen = {
    path: "/console/sources",
    action: "source.read",
    get: ({ frame }) => Effect.map(sources.list, (all) => ({ screen: sourceListScreen(frame, all) })),
    post: {
      action: "source.change",
      respond: (call) =>
        Effect.map(sources.create({ name: fieldOf(call, "name") }), ({ id }) => ({
          location: consolePath(call.frame, `sources/${id}`),
        })),
    },
  }
  const one: ConsoleScreen = {
    path,
    action: "source.read",
    get: ({ frame, path: [id] }) => Effect.map(found(idOf(id)), (source) => ({ screen: sourceScreen(frame, source) })),
  }
  const reveal = act({
    path: `${path}/reveal`,
    action: "source.reveal",
    home,
    respond: ({ frame, path: [id] }) => Effect.map(sources.reveal(idOf(id)), (source) => revealed(frame, source)),
  })
  const rotate = act({
    path: `${path}/rotate`,
    action: "source.reveal",
    home,
    respond: ({ frame, path: [id] }) => Effect.map(sources.rotateSecret(idOf(id)), (source) => revealed(frame, source)),
  })
  const change = act({
    path: `${path}/change`,
    action: "source.change",
    home,
    respond: (call) => {
      const thanksUrl = fieldOf(call, "thanks_url")
      const encoding = SOURCE_ENCODINGS.find((known) => known === fieldOf(call, "encoding")) ?? null
      const changes = { name: fieldOf(call, "name"), encoding, thanksUrl: thanksUrl === "" ? null : thanksUrl }
      return Effect.as(sources.change(idOf(call.path[0]), changes), null)
    },
  })
  const archive = act({
    path: `${path}/archive`,
    action: "source.change",
    home,
    respond: ({ path: [id] }) => Effect.as(sources.archive(idOf(id)), null),
  })
  const restore = act({
    path: `${path}/restore`,
    action: "source.change",
    home,
    respond: ({ path: [id] }) => Effect.as(sources.restore(idOf(id)), null),
  })
  const remove = act({
    path: `${path}/delete`,
    action: "source.delete",
    home: () => "sources",
    respond: Effect.fnUntraced(function* (call) {
      const source = yield* found(idOf(call.path[0]))
      const table = fieldOf(call, "table")
      if (fieldOf(call, "confirm") !== source.name || (table !== "keep" && table !== "drop")) {
        const message = "Nothing was deleted: type the source's name, and say what becomes of its table."
        return yield* Effect.fail<ManageError>({ code: "bad_param", message, param: "confirm" })
      }
      yield* sources.remove(source.id, table)
      return null
    }),
  })
  return [list, one, reveal, rotate, change, archive, restore, remove]
})
