/** The screens and acts of sources. */
import { OVERVIEW_DAYS } from "@data-cabinet/core/activity/Activity"
import { ActivityStore } from "@data-cabinet/core/activity/ActivityStore"
import { EventBrowser } from "@data-cabinet/core/event/EventBrowser"
import { EventContext } from "@data-cabinet/core/event/EventContext"
import { knownSender } from "@data-cabinet/core/diagnostics/KnownSender"
import { Feed } from "@data-cabinet/core/feed/Feed"
import type { Source, SourceWithSecret } from "@data-cabinet/core/source/Source"
import { intakePath } from "@data-cabinet/core/source/SourceShape"
import { parseLifetime } from "@data-cabinet/core/key/Lifetime"
import { Notices } from "@data-cabinet/core/notice/Notices"
import { Shapes } from "@data-cabinet/core/payload/Shapes"
import { SOURCE_SETTINGS } from "@data-cabinet/core/source/SourceSettings"
import { Sources } from "@data-cabinet/core/source/Sources"
import type { ProviderName } from "@data-cabinet/core/source/Providers"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Effect, Option } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { consolePath, type Frame } from "../html/Shell.ts"
import { act, fieldOf, idOf } from "../screen/Act.ts"
import { liveFrom } from "../live/LiveScreens.ts"
import { shownPage } from "../screen/IdPages.ts"
import { valueOf } from "../screen/SelectionLinks.ts"
import { type ConsoleScreen, type ScreenCall, wantsFragment } from "../screen/ConsoleScreen.ts"
import { changedValues } from "../screen/ChangedValues.ts"
import { settingsIn } from "../screen/SettingFields.ts"
import { recentEvents, sourceListScreen, sourceScreen } from "./SourceScreen.ts"
import { fieldsScreen } from "./SourceFields.ts"
import { proofIn } from "./ProofForm.ts"
import { challengeIn, verificationIn } from "./VerificationForm.ts"

const home = ([id]: ReadonlyArray<string>) => `sources/${id}`

/** Enough to see that it works. */
const RECENT = 5

const knownSenders = Effect.gen(function* () {
  const feed = yield* Feed
  const context = yield* EventContext
  return (source: Source) =>
    knownSender(source).pipe(Effect.provideService(Feed, feed), Effect.provideService(EventContext, context))
})

const listIn = Effect.gen(function* () {
  const sources = yield* Sources
  const activity = yield* ActivityStore
  const { timeZone } = yield* ConsoleSettings
  return ({ frame, pairs }: ScreenCall) =>
    Effect.map(
      Effect.all([
        shownPage(sources.page, valueOf(pairs, "after")),
        activity.sources({ days: OVERVIEW_DAYS, timeZone }),
      ]),
      ([page, states]) => {
        const byId = new Map(states.map((state) => [state.sourceId, state]))
        return { screen: sourceListScreen(frame, page, byId, timeZone) }
      },
    )
})

export const sourceScreens = Effect.gen(function* () {
  const sources = yield* Sources
  const browser = yield* EventBrowser
  const notices = yield* Notices
  const shapes = yield* Shapes
  const live = yield* liveFrom
  const { timeZone } = yield* ConsoleSettings
  const findSender = yield* knownSenders
  const latest = Effect.fnUntraced(function* (sourceId: number) {
    const from = yield* live({ sourceId, channel: null })
    const { items } = yield* browser.page({ sourceId, limit: RECENT })
    const { source: own } = yield* notices.show
    return { events: items, timeZone, live: from, isOwn: own?.id === sourceId }
  })
  const around = (source: Source) =>
    Effect.all({ data: latest(source.id), sender: findSender(source), shape: shapes.fields(source.id) }).pipe(
      Effect.map(({ data, sender, shape }) => ({ ...data, sender, shape })),
    )
  const revealed = Effect.fnUntraced(function* (frame: Frame, source: SourceWithSecret) {
    const url = `${frame.baseUrl}${intakePath(source)}`
    return { screen: sourceScreen(frame, source, yield* around(source), url) }
  })
  const found = Effect.fnUntraced(function* (id: number) {
    const source: Option.Option<Source> = id === 0 ? Option.none() : yield* sources.get(id)
    if (Option.isSome(source)) return source.value
    return yield* Effect.fail<ManageError>({ code: "no_such_source", message: "No source has this id." })
  })
  const path = "/console/sources/{id}" as const
  const one: ConsoleScreen = {
    path,
    action: "source.read",
    get: Effect.fnUntraced(function* ({ frame, path: [id] }) {
      const source = yield* found(idOf(id))
      return { screen: sourceScreen(frame, source, yield* around(source)) }
    }),
  }
  const recent: ConsoleScreen = {
    path: `${path}/recent`,
    action: "event.read",
    get: Effect.fnUntraced(function* (call) {
      const [id] = call.path
      if (!wantsFragment(call)) return { location: consolePath(call.frame, `sources/${idOf(id)}`) }
      return { fragment: recentEvents(call.frame, yield* latest(idOf(id))).text }
    }),
  }
  const reveal = act({
    path: `${path}/reveal`,
    action: "source.reveal",
    home,
    repeat: "allowed",
    respond: ({ frame, path: [id] }) => Effect.flatMap(sources.reveal(idOf(id)), (source) => revealed(frame, source)),
  })
  const rotate = act({
    path: `${path}/rotate`,
    action: "source.reveal",
    home,
    repeat: "once",
    respond: (call) => {
      const keepOld = fieldOf(call, "keep_old")
      const keepOldSeconds = parseLifetime(keepOld)
      // An unreadable duration must not end the old address at once.
      if (keepOld !== "" && keepOldSeconds === null) return Effect.fail(badKeepOld)
      return Effect.flatMap(sources.rotateSecret(idOf(call.path[0]), { keepOldSeconds }), (source) =>
        revealed(call.frame, source),
      )
    },
  })
  return [
    listAt(sources, yield* listIn),
    one,
    fieldsAt(shapes, found, timeZone),
    recent,
    reveal,
    rotate,
    ...changeActs(sources, found),
  ]
})

const listAt = (sources: Sources["Service"], list: Effect.Success<typeof listIn>): ConsoleScreen => ({
  path: "/console/sources",
  action: "source.read",
  get: list,
  post: {
    action: "source.change",
    repeat: "once",
    respond: (call) =>
      Effect.map(sources.create({ name: fieldOf(call, "name"), ...senderIn(fieldOf(call, "from")) }), ({ id }) => ({
        location: consolePath(call.frame, `sources/${id}`),
      })),
  },
  back: () => "sources",
})

const fieldsAt = (shapes: Shapes["Service"], found: Found, timeZone: string): ConsoleScreen => ({
  path: "/console/sources/{id}/fields",
  action: "event.read",
  get: Effect.fnUntraced(function* ({ frame, path: [id] }) {
    const { id: sourceId, name } = yield* found(idOf(id))
    return { screen: fieldsScreen(frame, name, { shape: yield* shapes.fields(sourceId), timeZone }) }
  }),
})

const badKeepOld: ManageError = {
  code: "bad_expiry",
  message: "keep_old must be a time such as 7d or 12h, or empty.",
  param: "keep_old",
}

const senderIn = (from: string) => (from === "" ? {} : { from: from as ProviderName })

type Found = (id: number) => Effect.Effect<Source, ManageError | StoreUnavailable>

/** The acts that change a source, switch it off and on, and delete it. */
const changeActs = (sources: Sources["Service"], found: Found): ReadonlyArray<ConsoleScreen> => {
  const path = "/console/sources/{id}" as const
  const change = act({
    path: `${path}/change`,
    action: "source.change",
    home,
    repeat: "allowed",
    respond: (call) => {
      const changes = changedValues(call, { name: fieldOf(call, "name"), ...settingsIn(SOURCE_SETTINGS, call) })
      return Effect.as(sources.change(idOf(call.path[0]), changes), null)
    },
  })
  const verify = act({
    path: `${path}/verify`,
    action: "source.change",
    home,
    // Sent twice, the new secret would replace the old one.
    repeat: "once",
    respond: (call) => Effect.as(sources.change(idOf(call.path[0]), { verify: verificationIn(call) }), null),
  })
  const challenge = act({
    path: `${path}/challenge`,
    action: "source.change",
    home,
    repeat: "allowed",
    respond: (call) => Effect.as(sources.change(idOf(call.path[0]), { challenge: challengeIn(call) }), null),
  })
  const proof = act({
    path: `${path}/proof`,
    action: "source.change",
    home,
    repeat: "allowed",
    respond: (call) => Effect.as(sources.change(idOf(call.path[0]), { proof: proofIn(call) }), null),
  })
  const archive = act({
    path: `${path}/archive`,
    action: "source.change",
    home,
    repeat: "allowed",
    respond: ({ path: [id] }) => Effect.as(sources.archive(idOf(id)), null),
  })
  const restore = act({
    path: `${path}/restore`,
    action: "source.change",
    home,
    repeat: "allowed",
    respond: ({ path: [id] }) => Effect.as(sources.restore(idOf(id)), null),
  })
  const remove = act({
    path: `${path}/delete`,
    action: "source.delete",
    home: () => "sources",
    repeat: "allowed",
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
  return [change, verify, challenge, proof, archive, restore, remove]
}
