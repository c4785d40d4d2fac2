/** Polls over the management API. The values of their headers are accepted and never shown. */
import type { Actor } from "@data-cabinet/core/audit/Actor"
import {
  type Poll,
  type NewPoll,
  shownPollUrl,
  pollShape,
  pollRunShape,
  pollTrialShape,
} from "@data-cabinet/core/poll/Poll"
import { POLL_SETTINGS } from "@data-cabinet/core/poll/PollSettings"
import { Polls } from "@data-cabinet/core/poll/Polls"
import { Effect, Schema } from "effect"
import { idPage, list, nothing, one, pageOf } from "../manage/ManageResponses.ts"
import { type BodyFields, camelFields, idField, text } from "../manage/ManageBodies.ts"
import { settingFields, settingParams } from "../manage/SettingBodies.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { idPageParameters, idSegment, limitParameter } from "../manage/ManageParameters.ts"

const id = idSegment("The poll's id.")

const URL_TEXT = text(4096, "The URL to request: http or https, at a public address.")

const settings = {
  ...settingFields(POLL_SETTINGS),
  headers: Schema.optionalKey(
    Schema.Array(Schema.Struct({ name: text(100, "The header's name."), value: text(4096, "Secret: never shown.") }))
      .check(Schema.isMaxLength(50))
      .annotate({ description: "Sent with every request." }),
  ),
} satisfies BodyFields<Omit<NewPoll, "sourceId" | "url">>

export const newPoll = Schema.Struct({ source_id: idField, url: URL_TEXT, ...settings })

const change = Schema.Struct({ url: Schema.optionalKey(URL_TEXT), ...settings })

/** A poll's fields from a body. */
const fieldsOf = <B extends Pick<typeof change.Type, "headers">>({ headers, ...body }: B) => ({
  ...camelFields(body),
  ...(headers === undefined ? {} : { headers: headers.map(({ name, value }) => [name, value] as const) }),
})

const ERRORS = [
  "bad_url",
  "not_public",
  "name_not_found",
  ...POLL_SETTINGS.errors.map(({ code }) => code),
  "bad_header",
] as const

const PARAMS = {
  bad_url: "/url",
  not_public: "/url",
  name_not_found: "/url",
  ...settingParams(POLL_SETTINGS),
  bad_header: "/headers",
} as const

/** The newest of its runs. */
const MAX_RUNS = 1000

const shown = (poll: Poll, { role }: Actor) => pollShape.json({ ...poll, url: shownPollUrl(poll, role) })

export const managePolls = Effect.gen(function* () {
  const polls = yield* Polls
  const common = { tag: "Files", segments: [id], errors: ["no_such_poll"], params: { no_such_poll: "id" } } as const
  const one_ = one(pollShape, "The poll.")
  const trial = one(pollTrialShape, "What came of it; a failed request is not an error of this one.")
  return [
    manageEndpoint({
      id: "listPolls",
      tag: "Files",
      method: "GET",
      path: "/manage/v1/polls",
      summary: "All polls",
      description: "By id. For the next page send `next_cursor` as `after`.",
      action: "poll.read",
      parameters: idPageParameters,
      response: list(pollShape, "The polls."),
      respond: ({ actor, query }) => idPage(polls.list, query, (poll) => shown(poll, actor)),
    }),
    manageEndpoint({
      id: "addPoll",
      tag: "Files",
      method: "POST",
      path: "/manage/v1/polls",
      summary: "Add a poll",
      description: "Its first run is due at once; the items of that run are history.",
      action: "poll.change",
      once: { completed: "transaction" },
      body: newPoll,
      response: one(pollShape, "The poll.", 201),
      errors: ["no_such_source", ...ERRORS],
      params: { no_such_source: "/source_id", ...PARAMS },
      respond: ({ body }) => Effect.map(polls.add(fieldsOf(body)), pollShape.json),
    }),
    manageEndpoint({
      id: "tryNewPoll",
      tag: "Files",
      method: "POST",
      path: "/manage/v1/polls/try",
      summary: "Try a poll that is not added",
      description:
        "Requests the URL once, as the poll would, and keeps nothing: returns the server's response, and the items that the first run would accept. One poll is tried at a time.",
      action: "poll.change",
      body: newPoll,
      response: trial,
      errors: ["busy", ...ERRORS],
      params: PARAMS,
      respond: ({ body }) => Effect.map(polls.tryAdd(fieldsOf(body)), pollTrialShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "tryPoll",
      method: "POST",
      path: "/manage/v1/polls/{id}/try",
      summary: "Try a poll",
      description:
        "Requests its URL once, with the body's changes applied but not saved, and keeps nothing; `{}` for the unchanged poll. `fresh` counts the items that a run would accept.",
      action: "poll.change",
      body: change,
      response: trial,
      errors: ["no_such_poll", "busy", "headers_needed", ...ERRORS],
      params: { no_such_poll: "id", headers_needed: "/headers", ...PARAMS },
      respond: ({ path: [poll], body }) => Effect.map(polls.tryChange(poll, fieldsOf(body)), pollTrialShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "getPoll",
      method: "GET",
      path: "/manage/v1/polls/{id}",
      summary: "One poll",
      description: "One poll with its schedule.",
      action: "poll.read",
      response: one_,
      respond: ({ actor, path: [poll] }) => Effect.map(polls.get(poll), (found) => shown(found, actor)),
    }),
    manageEndpoint({
      ...common,
      id: "changePoll",
      method: "PATCH",
      path: "/manage/v1/polls/{id}",
      summary: "Change a poll",
      description:
        "Missing fields stay. Its headers stay with their origin: a URL of another origin needs `headers`, which may be empty. If the URL (but for its query), the pointer or the key changes, the items of the next run are history. It is due at once; nothing of a run under way is saved.",
      action: "poll.change",
      body: change,
      response: one_,
      errors: ["no_such_poll", "busy", "headers_needed", ...ERRORS],
      params: { no_such_poll: "id", headers_needed: "/headers", ...PARAMS },
      respond: ({ path: [poll], body }) => Effect.map(polls.change(poll, fieldsOf(body)), pollShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "removePoll",
      method: "DELETE",
      path: "/manage/v1/polls/{id}",
      summary: "Remove a poll",
      description:
        "Permanently: its headers and its record of seen items are deleted. Its log is kept until it expires.",
      action: "poll.change",
      response: nothing("It is removed."),
      respond: ({ path: [poll] }) => Effect.as(polls.remove(poll), undefined),
    }),
    manageEndpoint({
      ...common,
      id: "pausePoll",
      method: "POST",
      path: "/manage/v1/polls/{id}/pause",
      summary: "Pause a poll",
      description: "It does not run until it is resumed.",
      action: "poll.change",
      response: one_,
      respond: ({ path: [poll] }) => Effect.map(polls.pause(poll), pollShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "resumePoll",
      method: "POST",
      path: "/manage/v1/polls/{id}/resume",
      summary: "Resume a poll",
      description: "It is due at once.",
      action: "poll.change",
      response: one_,
      respond: ({ path: [poll] }) => Effect.map(polls.resume(poll), pollShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "runPoll",
      method: "POST",
      path: "/manage/v1/polls/{id}/run",
      summary: "Run a poll now",
      description: "Even if it is paused. Responds when the new items are accepted.",
      action: "poll.change",
      once: { completed: "after" },
      response: one(pollRunShape, "The run; a failed run is not an error of this request."),
      errors: ["no_such_poll", "busy"],
      respond: ({ path: [poll] }) => Effect.map(polls.run(poll), pollRunShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "listPollRuns",
      method: "GET",
      path: "/manage/v1/polls/{id}/runs",
      summary: "The runs of a poll",
      description: `Newest first, at most ${MAX_RUNS}.`,
      action: "poll.read",
      parameters: [limitParameter],
      response: list(pollRunShape, "The runs."),
      respond: ({ path: [poll], query: { limit = 100 } }) =>
        Effect.map(polls.log(poll, limit), (runs) => pageOf(runs.map(pollRunShape.json), limit, ({ at }) => at)),
    }),
  ]
})
