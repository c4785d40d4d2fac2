/** Sources over the management API. */
import { AuditLog } from "@data-cabinet/core/audit/AuditLog"
import { Intake } from "@data-cabinet/core/intake/Intake"
import * as Shape from "@data-cabinet/core/json/Shape"
import { sendTestEvent } from "@data-cabinet/core/intake/SendTestEvent"
import { ownSourceShape, sourceWithAddressShape, withAddress } from "@data-cabinet/core/source/SourceShape"
import type { SourceWithSecret } from "@data-cabinet/core/source/Source"
import { noSuchSource, Sources } from "@data-cabinet/core/source/Sources"
import { Effect, Option, Schema } from "effect"
import { idPage, list, nothing, one } from "../manage/ManageResponses.ts"
import { text } from "../manage/ManageBodies.ts"
import { manageEndpoint, type Once } from "../manage/ManageEndpoint.ts"
import type { ManageError } from "../manage/ManageError.ts"
import { idPageParameters, idSegment, secondsParameter, wordParameter } from "../manage/ManageParameters.ts"
import { HttpSettings } from "../server/HttpSettings.ts"
import { newSource, SETTINGS_ERRORS, SETTINGS_PARAMS, settingsOf, sourceChange } from "./SourceBodies.ts"

const id = idSegment("The source's id.")

/** Numbers are sent as texts, so that none loses a digit on the way. */
const testEvent = Schema.Struct({
  fields: Schema.Record(Schema.String, Schema.Union([text(100_000, "A text."), Schema.Boolean, Schema.Null])).annotate({
    description: "The fields; numbers as text, so that none loses a digit.",
  }),
})

const TABLE = wordParameter("table", ["keep", "drop"], "What happens to its table.", true)

const KEEP_OLD = secondsParameter(
  "keep_old_seconds",
  "For how long the old one is still accepted: 60 to 2,592,000 seconds.",
)

const testEventShape = Shape.named(
  "TestEvent",
  Shape.object<{ readonly id: number; readonly duplicate: boolean; readonly empty: boolean }>("An accepted event.", {
    id: Shape.id("The event's number.", 10417),
    duplicate: Shape.flag("Whether it repeats another."),
    empty: Shape.flag("Whether no field is filled."),
  }),
)

const PARAMS = { ...SETTINGS_PARAMS, no_such_source: "id" } as const

export const manageSources = Effect.gen(function* () {
  const sources = yield* Sources
  const intake = yield* Intake
  const audit = yield* AuditLog
  const { baseUrl, baseUrlKnown = true } = yield* HttpSettings
  const base = { url: baseUrl, known: baseUrlKnown }
  const revealed = (source: SourceWithSecret) => sourceWithAddressShape.json(withAddress(source, base))
  const common = { tag: "Sources", segments: [id], errors: ["no_such_source"], params: PARAMS } as const
  const once: Once = {
    completed: "transaction",
    withheld: ["intake_url", "intake_path", "rows_url", "base_url_known"],
    replay: one(ownSourceShape, "The source."),
  }
  return [
    manageEndpoint({
      id: "listSources",
      tag: "Sources",
      method: "GET",
      path: "/manage/v1/sources",
      summary: "All sources",
      description:
        "By id, with their settings, including archived ones. For the next page send `next_cursor` as `after`.",
      action: "source.read",
      parameters: idPageParameters,
      response: list(ownSourceShape, "The sources."),
      respond: ({ query }) => idPage(sources.page, query, ownSourceShape.json),
    }),
    manageEndpoint({
      id: "addSource",
      tag: "Sources",
      method: "POST",
      path: "/manage/v1/sources",
      summary: "Create a source",
      description: "With an intake address and a table of its own.",
      action: "source.change",
      once,
      body: newSource,
      response: one(sourceWithAddressShape, "The source with its intake address.", 201),
      errors: SETTINGS_ERRORS,
      params: PARAMS,
      respond: ({ body: { name, ...body } }) =>
        Effect.map(sources.create({ name, ...settingsOf(body) }), (made) => revealed(made)),
    }),
    manageEndpoint({
      ...common,
      id: "getSource",
      method: "GET",
      path: "/manage/v1/sources/{id}",
      summary: "One source",
      description: "One source with its settings.",
      action: "source.read",
      response: one(ownSourceShape, "The source."),
      respond: ({ path: [source] }) =>
        Effect.flatMap(sources.get(source), (found) =>
          Option.isSome(found) ? Effect.succeed(ownSourceShape.json(found.value)) : noSuchSource(source),
        ),
    }),
    manageEndpoint({
      ...common,
      id: "changeSource",
      method: "PATCH",
      path: "/manage/v1/sources/{id}",
      summary: "Change a source",
      description: "Its table keeps its name. Missing fields stay.",
      action: "source.change",
      body: sourceChange,
      response: one(ownSourceShape, "The source."),
      errors: ["no_such_source", ...SETTINGS_ERRORS],
      respond: Effect.fnUntraced(function* ({ path: [source], body: { name, archived, ...body } }) {
        const changed = yield* sources.change(source, { ...(name === undefined ? {} : { name }), ...settingsOf(body) })
        if (archived === undefined) return ownSourceShape.json(changed)
        return ownSourceShape.json(yield* archived ? sources.archive(source) : sources.restore(source))
      }),
    }),
    manageEndpoint({
      ...common,
      id: "deleteSource",
      method: "DELETE",
      path: "/manage/v1/sources/{id}",
      summary: "Delete a source",
      description: "For good. Its events stay in the feed; `table` says what happens to its table.",
      action: "source.delete",
      parameters: [TABLE],
      response: nothing("It is deleted."),
      errors: ["no_such_source", "table_in_use"],
      respond: ({ path: [source], query }) => Effect.as(sources.remove(source, query.table ?? "keep"), undefined),
    }),
    manageEndpoint({
      ...common,
      id: "revealSource",
      method: "POST",
      path: "/manage/v1/sources/{id}/reveal",
      summary: "Show an intake address",
      description: "The source with its intake address.",
      action: "source.reveal",
      response: one(sourceWithAddressShape, "The source."),
      respond: ({ path: [source] }) => Effect.map(sources.reveal(source), (found) => revealed(found)),
    }),
    manageEndpoint({
      ...common,
      id: "rotateSourceSecret",
      method: "POST",
      path: "/manage/v1/sources/{id}/rotate-secret",
      summary: "A new intake address",
      description: "The old one responds with 404 from then on, or after `keep_old_seconds`.",
      action: "source.change",
      once,
      response: one(sourceWithAddressShape, "The source.", 201),
      parameters: [KEEP_OLD],
      errors: ["no_such_source", "bad_expiry"],
      params: { no_such_source: "id", bad_expiry: "keep_old_seconds" },
      respond: ({ path: [source], query: { keep_old_seconds: keepOldSeconds = null } }) =>
        Effect.map(sources.rotateSecret(source, { keepOldSeconds }), (found) => revealed(found)),
    }),
    manageEndpoint({
      ...common,
      id: "sendTestEvent",
      method: "POST",
      path: "/manage/v1/sources/{id}/test-event",
      summary: "Send a test event",
      description:
        "An event like any other: it has a row, is in the feed and is delivered. It has no original request. Equal fields within five minutes are a repeat.",
      action: "source.change",
      once: { completed: "after" },
      body: testEvent,
      response: one(testEventShape, "The event.", 201),
      errors: ["no_such_source", "bad_body"],
      respond: ({ path: [source], body: { fields } }) => {
        const sent = Effect.map(sendTestEvent({ intake, audit }, source, fields), ({ id: event, repeatOf, empty }) =>
          testEventShape.json({ id: event, duplicate: repeatOf !== null, empty }),
        )
        return Effect.catchTag(sent, "IntakeError", ({ message }) =>
          Effect.fail<ManageError>({ code: "bad_body", message, param: "/fields" }),
        )
      },
    }),
  ]
})
