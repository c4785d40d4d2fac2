/** The screens and acts of polls. The value of a header is taken and never shown. */
import { POLL_FORMATS, type PollChange } from "@data-cabinet/core/poll/Poll"
import { Polls } from "@data-cabinet/core/poll/Polls"
import { parseInterval } from "@data-cabinet/core/poll/PollSchedule"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { consolePath } from "../html/Shell.ts"
import { act, fieldOf, idOf } from "../screen/Act.ts"
import type { ConsoleScreen, FormCall } from "../screen/ConsoleScreen.ts"
import { pollListScreen, pollScreen } from "./PollScreen.ts"

const RUNS = 50

/** What both forms ask for; an interval that is none is refused by the use case as 0 seconds. */
const settingsOf = (call: FormCall) => {
  const field = (name: string) => fieldOf(call, name)
  return {
    url: field("url"),
    everySeconds: parseInterval(field("every")) ?? 0,
    format: POLL_FORMATS.find((one) => one === field("format")) ?? null,
    pointer: field("pointer"),
    keyField: field("key") === "" ? null : field("key"),
  }
}

const headersOf = (call: FormCall) => {
  const name = fieldOf(call, "header_name")
  return name === "" ? [] : [[name, fieldOf(call, "header_value")] as const]
}

/** A header that is typed in is sent, whatever was chosen; none at all only where that was chosen, or there are none. */
const changeOf = (call: FormCall): PollChange => {
  const headers = headersOf(call)
  const keeps = fieldOf(call, "headers") !== "replace" && headers.length === 0
  return keeps ? settingsOf(call) : { ...settingsOf(call), headers }
}

export const pollScreens = Effect.gen(function* () {
  const polls = yield* Polls
  const sources = yield* Sources
  const { timeZone } = yield* ConsoleSettings
  const path = "/console/polls/{id}" as const
  const home = ([id]: ReadonlyArray<string>) => `polls/${id}`
  const simple = (name: string, work: (id: number) => Effect.Effect<unknown, Refusal>, to = home) =>
    act({
      path: `${path}/${name}`,
      action: "poll.change",
      home: to,
      respond: ({ path: [id] }) => Effect.as(work(idOf(id)), null),
    })
  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path: "/console/polls",
      action: "poll.read",
      get: ({ frame }) =>
        Effect.map(Effect.all([polls.list, sources.list]), ([all, known]) => ({
          screen: pollListScreen(frame, all, known, timeZone),
        })),
      post: {
        action: "poll.change",
        respond: (call) =>
          Effect.map(
            polls.add({ ...settingsOf(call), sourceId: idOf(fieldOf(call, "source_id")), headers: headersOf(call) }),
            ({ id }) => ({ location: consolePath(call.frame, `polls/${id}`) }),
          ),
      },
      back: () => "polls",
    },
    {
      path,
      action: "poll.read",
      get: Effect.fnUntraced(function* ({ frame, path: [id] }) {
        const poll = yield* polls.get(idOf(id))
        const source = (yield* sources.list).find((one) => one.id === poll.sourceId) ?? null
        return { screen: pollScreen(frame, { poll, source, runs: yield* polls.log(poll.id, RUNS), timeZone }) }
      }),
    },
    act({
      path: `${path}/change`,
      action: "poll.change",
      home,
      respond: (call) => Effect.as(polls.change(idOf(call.path[0]), changeOf(call)), null),
    }),
    simple("run", polls.run),
    simple("pause", polls.pause),
    simple("resume", polls.resume),
    simple("remove", polls.remove, () => "polls"),
  ]
  return screens
})

type Refusal = Effect.Error<ReturnType<Polls["Service"]["run"]>>
