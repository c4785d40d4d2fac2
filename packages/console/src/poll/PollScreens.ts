/** The screens and acts of polls. Values of headers are accepted and never shown. */
import type { PollChange } from "@data-cabinet/core/poll/Poll"
import { POLL_SETTINGS } from "@data-cabinet/core/poll/PollSettings"
import { Polls } from "@data-cabinet/core/poll/Polls"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect, Option } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { consolePath } from "../html/Shell.ts"
import { act, fieldOf, idOf } from "../screen/Act.ts"
import { shownPage } from "../screen/IdPages.ts"
import { valueOf } from "../screen/SelectionLinks.ts"
import type { ConsoleScreen, FormCall, Repeat, ScreenCall } from "../screen/ConsoleScreen.ts"
import { settingsIn } from "../screen/SettingFields.ts"
import { newPollScreen, type PollData, pollListScreen, pollScreen } from "./PollScreen.ts"

const RUNS = 50

/** The fields of both forms, apart from headers. */
const settingsOf = (call: FormCall) => ({ url: fieldOf(call, "url"), ...settingsIn(POLL_SETTINGS, call) })

const headersOf = (call: FormCall) => {
  const name = fieldOf(call, "header_name")
  return name === "" ? [] : [[name, fieldOf(call, "header_value")] as const]
}

/** Typed headers are sent whatever was chosen. Headers are removed only if that was chosen, or if the poll has none. */
const changeOf = (call: FormCall): PollChange => {
  const headers = headersOf(call)
  const keeps = fieldOf(call, "headers") !== "replace" && headers.length === 0
  return keeps ? settingsOf(call) : { ...settingsOf(call), headers }
}

const newOf = (call: FormCall) => ({
  ...POLL_SETTINGS.defaults,
  ...settingsOf(call),
  sourceId: idOf(fieldOf(call, "source_id")),
})

const path = "/console/polls/{id}" as const
const home = ([id]: ReadonlyArray<string>) => `polls/${id}`

const pollCard = Effect.gen(function* () {
  const polls = yield* Polls
  const sources = yield* Sources
  const { timeZone } = yield* ConsoleSettings
  return Effect.fnUntraced(function* ({ frame, path: [id] }: ScreenCall, tried?: PollData["tried"]) {
    const poll = yield* polls.get(idOf(id))
    const source = Option.getOrNull(yield* sources.get(poll.sourceId))
    const data = { poll, source, runs: yield* polls.log(poll.id, RUNS), timeZone }
    return { screen: pollScreen(frame, tried === undefined ? data : { ...data, tried }) }
  })
})

const trialScreens = Effect.gen(function* () {
  const polls = yield* Polls
  const sources = yield* Sources
  const card = yield* pollCard
  const screens: ReadonlyArray<ConsoleScreen> = [
    act({
      path: "/console/polls/try",
      action: "poll.change",
      home: () => "polls",
      repeat: "allowed",
      respond: Effect.fnUntraced(function* (call) {
        const settings = newOf(call)
        const trial = yield* polls.tryAdd({ ...settings, headers: headersOf(call) })
        return { screen: newPollScreen(call.frame, settings, yield* sources.list, trial) }
      }),
    }),
    act({
      path: `${path}/try`,
      action: "poll.change",
      home,
      repeat: "allowed",
      respond: Effect.fnUntraced(function* (call) {
        // The button alone sends no settings, so the current ones are tried.
        const sent = fieldOf(call, "url") === "" ? null : changeOf(call)
        const trial = yield* polls.tryChange(idOf(call.path[0]), sent ?? {})
        return yield* card(call, { settings: sent === null ? {} : settingsOf(call), trial })
      }),
    }),
  ]
  return screens
})

const mainScreens = Effect.gen(function* () {
  const polls = yield* Polls
  const sources = yield* Sources
  const { timeZone } = yield* ConsoleSettings
  const card = yield* pollCard
  const simple = (
    name: string,
    work: (id: number) => Effect.Effect<unknown, Refusal>,
    { to = home, repeat = "allowed" }: { readonly to?: typeof home; readonly repeat?: Repeat } = {},
  ) =>
    act({
      path: `${path}/${name}`,
      action: "poll.change",
      home: to,
      repeat,
      respond: ({ path: [id] }) => Effect.as(work(idOf(id)), null),
    })
  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path: "/console/polls",
      action: "poll.read",
      get: ({ frame, pairs }) =>
        Effect.map(Effect.all([shownPage(polls.list, valueOf(pairs, "after")), sources.list]), ([page, known]) => ({
          screen: pollListScreen(frame, page, known, timeZone),
        })),
      post: {
        action: "poll.change",
        repeat: "once",
        respond: (call) =>
          Effect.map(polls.add({ ...newOf(call), headers: headersOf(call) }), ({ id }) => ({
            location: consolePath(call.frame, `polls/${id}`),
          })),
      },
      back: () => "polls",
    },
    {
      path,
      action: "poll.read",
      get: (call) => card(call),
    },
    act({
      path: `${path}/change`,
      action: "poll.change",
      home,
      repeat: "allowed",
      respond: (call) => Effect.as(polls.change(idOf(call.path[0]), changeOf(call)), null),
    }),
    simple("run", polls.run, { repeat: "once" }),
    simple("pause", polls.pause),
    simple("resume", polls.resume),
    simple("remove", polls.remove, { to: () => "polls" }),
  ]
  return screens
})

type Refusal = Effect.Error<ReturnType<Polls["Service"]["run"]>>

export const pollScreens = Effect.map(Effect.all([mainScreens, trialScreens]), (all) => all.flat())
