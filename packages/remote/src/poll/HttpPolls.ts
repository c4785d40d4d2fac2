/** The polls of a remote cabinet; its server runs them. */
import { snakeKeys } from "@data-cabinet/core/json/KeyCase"
import type { NewPoll, Poll, PollRun, PollTrial } from "@data-cabinet/core/poll/Poll"
import { Polls } from "@data-cabinet/core/poll/Polls"
import { Effect, Layer } from "effect"
import { idPages, ManageApi } from "../http/ManageApi.ts"
import { refusalAsDefect, ofCodes, refusedAs } from "../http/RemoteRefusal.ts"
import { PollError } from "@data-cabinet/core/poll/PollError"

const known = ofCodes(PollError)

export const layer = Layer.effect(
  Polls,
  Effect.map(ManageApi, (api) => {
    const act = <A>(id: number, name: string) =>
      refusedAs(api.json<A>({ method: "POST", path: ["polls", id, name] }), known)
    const bodyOf = ({ headers, ...settings }: Partial<NewPoll>) =>
      snakeKeys({ ...settings, headers: headers?.map(([name, value]) => ({ name, value })) }) as object
    return Polls.of({
      add: (poll) => refusedAs(api.json<Poll>({ method: "POST", path: ["polls"], body: bodyOf(poll) }), known),
      tryAdd: (poll) =>
        refusedAs(api.json<PollTrial>({ method: "POST", path: ["polls", "try"], body: bodyOf(poll) }), known),
      tryChange: (id, change) =>
        refusedAs(api.json<PollTrial>({ method: "POST", path: ["polls", id, "try"], body: bodyOf(change) }), known),
      change: (id, change) =>
        refusedAs(api.json<Poll>({ method: "PATCH", path: ["polls", id], body: bodyOf(change) }), known),
      list: (query) => refusalAsDefect(idPages<Poll>(api, "polls", query)),
      get: (id) => refusedAs(api.json<Poll>({ method: "GET", path: ["polls", id] }), known),
      pause: (id) => act<Poll>(id, "pause"),
      resume: (id) => act<Poll>(id, "resume"),
      remove: (id) => Effect.asVoid(refusedAs(api.text({ method: "DELETE", path: ["polls", id] }), known)),
      log: (id, limit) =>
        refusedAs(
          api.list<PollRun>({ method: "GET", path: ["polls", id, "runs"], query: [["limit", String(limit)]] }),
          known,
        ),
      run: (id) => act<PollRun>(id, "run"),
    })
  }),
)
