/** Sources and the columns of their tables over the management API. */
import { AuditLog } from "@data-cabinet/core/audit/AuditLog"
import { Intake } from "@data-cabinet/core/intake/Intake"
import { changeColumn } from "@data-cabinet/core/row/ChangeColumn"
import { COLUMN_KINDS } from "@data-cabinet/core/row/FieldColumn"
import { changedColumnJson, retypeTrialJson, sourceColumnJson } from "@data-cabinet/core/row/SourceColumnJson"
import { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { sendTestEvent } from "@data-cabinet/core/source/SendTestEvent"
import { MAX_HEADER_NAME_LENGTH, MAX_HEADER_NAMES } from "@data-cabinet/core/source/HeaderNames"
import { SOURCE_ENCODINGS } from "@data-cabinet/core/source/Source"
import { ownSourceJson, revealedSourceJson } from "@data-cabinet/core/source/SourceJson"
import { MAX_SOURCE_RATE, noSuchSource, Sources } from "@data-cabinet/core/source/Sources"
import {
  MAX_SIGNATURE_PREFIX_LENGTH,
  MAX_TOLERANCE_SECONDS,
  MAX_VERIFY_SECRET_LENGTH,
} from "@data-cabinet/core/verification/ChangeVerification"
import { CHALLENGE_PROVIDERS } from "@data-cabinet/core/verification/Challenge"
import { HMAC_ALGORITHMS, type HmacParameters, SIGNATURE_ENCODINGS } from "@data-cabinet/core/verification/Recipe"
import { RECIPE_NAMES } from "@data-cabinet/core/verification/Recipes"
import { VERIFICATION_MODES, type VerificationChange } from "@data-cabinet/core/verification/Verification"
import { Effect, Option, Schema } from "effect"
import { list, nothing, one, whole } from "../manage/ManageResponses.ts"
import { nameField, text } from "../manage/ManageBodies.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import type { ManageError } from "../manage/ManageError.ts"
import { idSegment, nameSegment, secondsParameter, wordParameter } from "../manage/ManageParameters.ts"
import { HttpSettings } from "../server/HttpSettings.ts"

const id = idSegment("The source's id.")

const headerNames = (description: string) =>
  Schema.Array(text(MAX_HEADER_NAME_LENGTH, "A header's name."))
    .check(Schema.isMaxLength(MAX_HEADER_NAMES))
    .annotate({ description })

const header = (description: string) => text(MAX_HEADER_NAME_LENGTH, description)

const hmac = Schema.Struct({
  header: Schema.optionalKey(header("The header in which the signature stands; required when the recipe is set.")),
  algorithm: Schema.optionalKey(
    Schema.Literals(HMAC_ALGORITHMS).annotate({ description: "The hash function; `sha256` by default." }),
  ),
  encoding: Schema.optionalKey(
    Schema.Literals(SIGNATURE_ENCODINGS).annotate({ description: "How the signature is written; `hex` by default." }),
  ),
  prefix: Schema.optionalKey(text(MAX_SIGNATURE_PREFIX_LENGTH, "What the signature begins with, such as `sha256=`.")),
  timestamp_header: Schema.optionalKey(
    Schema.NullOr(
      header(
        "The header with the seconds since 1970 that are signed before a dot and the body; null: the body alone is.",
      ),
    ),
  ),
  tolerance_seconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_TOLERANCE_SECONDS })).annotate({
      description: "How far the timestamp may be from now; 300 by default.",
    }),
  ),
}).annotate({ description: "How the sender signs, for the recipe `hmac` alone." })

const verification = Schema.Struct({
  recipe: Schema.optionalKey(
    Schema.Literals(RECIPE_NAMES).annotate({ description: "How the sender signs; absent: as before." }),
  ),
  mode: Schema.optionalKey(
    Schema.Literals(VERIFICATION_MODES).annotate({
      description:
        "What happens to a request that is not the sender's; `reject` by default: a 401. `mark`: it is accepted, marked, and not delivered.",
    }),
  ),
  secret: Schema.optionalKey(
    text(MAX_VERIFY_SECRET_LENGTH, "What the sender signs with; required with another recipe. It is never shown."),
  ),
  keep_old_secret: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "With a secret: whether the one before counts beside it, false by default. Without: false drops the old one.",
    }),
  ),
  hmac: Schema.optionalKey(hmac),
}).annotate({ description: "How the sender is verified; null: whoever has the intake address may send." })

const challenge = Schema.Struct({
  provider: Schema.Literals(CHALLENGE_PROVIDERS).annotate({ description: "Who asks." }),
  secret: Schema.optionalKey(
    text(
      MAX_VERIFY_SECRET_LENGTH,
      "Of `meta` the verify token, of `x` the consumer secret; required with another provider, and never shown.",
    ),
  ),
}).annotate({
  description: "The provider whose question about the address is answered; null: none but those of the recipe.",
})

/** The members of `verify` as the use case takes them. */
const verificationOf = (given: typeof verification.Type | null): VerificationChange | null => {
  if (given === null) return null
  const { hmac: parameters, keep_old_secret: keepOldSecret, ...change } = given
  return {
    ...change,
    ...(keepOldSecret === undefined ? {} : { keepOldSecret }),
    ...(parameters === undefined ? {} : { hmac: parametersOf(parameters) }),
  }
}

const parametersOf = ({
  timestamp_header: timestampHeader,
  tolerance_seconds: toleranceSeconds,
  ...given
}: typeof hmac.Type): Partial<HmacParameters> => ({
  ...given,
  ...(timestampHeader === undefined ? {} : { timestampHeader }),
  ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }),
})

const settings = {
  encoding: Schema.optionalKey(
    Schema.NullOr(Schema.Literals(SOURCE_ENCODINGS)).annotate({
      description: "The charset of its forms; null: detected for each submission.",
    }),
  ),
  thanks_url: Schema.optionalKey(
    Schema.NullOr(text(2048, "Where a browser is redirected after a plain form; null: the built-in page.")),
  ),
  keep_headers: Schema.optionalKey(
    headerNames(
      "The headers that original requests keep besides those that all keep: names, or prefixes such as `X-GitHub-*`.",
    ),
  ),
  header_fields: Schema.optionalKey(headerNames("Headers that become fields of the events, too, under these names.")),
  keep_query: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Whether original requests keep the query string as sent." }),
  ),
  rate: Schema.optionalKey(
    Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_SOURCE_RATE }))).annotate({
      description: "How many requests a minute it takes, whoever sends them; null: the common limits.",
    }),
  ),
  verify: Schema.optionalKey(Schema.NullOr(verification)),
  challenge: Schema.optionalKey(Schema.NullOr(challenge)),
}

/** The members of `settings` as the use case takes them. */
const settingsOf = (body: Omit<typeof newSource.Type, "name">) => ({
  ...(body.encoding === undefined ? {} : { encoding: body.encoding }),
  ...(body.thanks_url === undefined ? {} : { thanksUrl: body.thanks_url }),
  ...(body.keep_headers === undefined ? {} : { keepHeaders: body.keep_headers }),
  ...(body.header_fields === undefined ? {} : { headerFields: body.header_fields }),
  ...(body.keep_query === undefined ? {} : { keepQuery: body.keep_query }),
  ...(body.rate === undefined ? {} : { rate: body.rate }),
  ...(body.verify === undefined ? {} : { verify: verificationOf(body.verify) }),
  ...(body.challenge === undefined ? {} : { challenge: body.challenge }),
})

const newSource = Schema.Struct({ name: nameField, ...settings })
const sourceChange = Schema.Struct({
  name: Schema.optionalKey(nameField),
  ...settings,
  archived: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "True switches it off: its intake address responds with 404." }),
  ),
})
const columnChange = Schema.Struct({
  label: Schema.optionalKey(text(1000, "The label shown on screen.")),
  type: Schema.optionalKey(Schema.Literals(COLUMN_KINDS).annotate({ description: "Its new type." })),
  with_views: Schema.optionalKey(Schema.Boolean.annotate({ description: "Recreates the views that depend on it." })),
})

/** Numbers are sent as texts, so that none loses a digit on the way. */
const testEvent = Schema.Struct({
  fields: Schema.Record(Schema.String, Schema.Union([text(100_000, "A text."), Schema.Boolean, Schema.Null])).annotate({
    description: "The fields; numbers as text, so that none loses a digit.",
  }),
})

const TABLE = wordParameter("table", ["keep", "drop"], "What happens to its table.", true)

const KEEP_OLD = secondsParameter(
  "keep_old_seconds",
  "For how long the old one is accepted, too: 60 to 2,592,000 seconds.",
)

const TYPE = wordParameter("type", COLUMN_KINDS, "The new type.", true)

const noChange: ManageError = { code: "bad_body", message: "The body must have a label, a type or both.", param: "" }

const SETTINGS_ERRORS = [
  "bad_name",
  "bad_encoding",
  "bad_thanks_url",
  "bad_keep_headers",
  "bad_header_fields",
  "bad_rate",
  "bad_verify",
  "bad_verify_secret",
  "bad_challenge",
] as const

const PARAMS = {
  bad_name: "/name",
  bad_encoding: "/encoding",
  bad_thanks_url: "/thanks_url",
  bad_keep_headers: "/keep_headers",
  bad_header_fields: "/header_fields",
  bad_rate: "/rate",
  bad_verify: "/verify",
  bad_verify_secret: "/verify/secret",
  bad_challenge: "/challenge",
  no_such_source: "id",
} as const

export const manageSources = Effect.gen(function* () {
  const sources = yield* Sources
  const columns = yield* SourceColumns
  const intake = yield* Intake
  const audit = yield* AuditLog
  const { baseUrl, baseUrlKnown = true } = yield* HttpSettings
  const base = { url: baseUrl, known: baseUrlKnown }
  const common = { tag: "Sources", segments: [id], errors: ["no_such_source"], params: PARAMS } as const
  const ofColumns = {
    ...common,
    errors: ["no_such_source", "no_table", "no_such_column"],
    params: { no_such_source: "id", no_table: "id", no_such_column: "column" },
  } as const
  return [
    manageEndpoint({
      id: "listSources",
      tag: "Sources",
      method: "GET",
      path: "/manage/v1/sources",
      summary: "All sources",
      description: "Every source by id with its settings, including archived ones. The list is not paginated.",
      action: "source.read",
      response: list("OwnSource", "The sources."),
      respond: () => Effect.map(sources.list, (all) => whole(all.map(ownSourceJson))),
    }),
    manageEndpoint({
      id: "addSource",
      tag: "Sources",
      method: "POST",
      path: "/manage/v1/sources",
      summary: "Create a source",
      description: "With an intake address and a table of its own.",
      action: "source.change",
      once: {
        completed: "transaction",
        withheld: ["intake_url", "intake_path", "rows_url", "base_url_known"],
        replay: one("OwnSource", "The source."),
      },
      body: newSource,
      response: one("SourceWithAddress", "The source with its intake address.", 201),
      errors: SETTINGS_ERRORS,
      params: PARAMS,
      respond: ({ body: { name, ...body } }) =>
        Effect.map(sources.create({ name, ...settingsOf(body) }), (made) => revealedSourceJson(made, base)),
    }),
    manageEndpoint({
      ...common,
      id: "getSource",
      method: "GET",
      path: "/manage/v1/sources/{id}",
      summary: "One source",
      description: "One source with its settings.",
      action: "source.read",
      response: one("OwnSource", "The source."),
      respond: ({ path: [source] }) =>
        Effect.flatMap(sources.get(source), (found) =>
          Option.isSome(found) ? Effect.succeed(ownSourceJson(found.value)) : noSuchSource(source),
        ),
    }),
    manageEndpoint({
      ...common,
      id: "changeSource",
      method: "PATCH",
      path: "/manage/v1/sources/{id}",
      summary: "Change a source",
      description: "Its table keeps its name. What is left out stays.",
      action: "source.change",
      body: sourceChange,
      response: one("OwnSource", "The source."),
      errors: ["no_such_source", ...SETTINGS_ERRORS],
      respond: Effect.fnUntraced(function* ({ path: [source], body: { name, archived, ...body } }) {
        const changed = yield* sources.change(source, { ...(name === undefined ? {} : { name }), ...settingsOf(body) })
        if (archived === undefined) return ownSourceJson(changed)
        return ownSourceJson(yield* archived ? sources.archive(source) : sources.restore(source))
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
      response: one("SourceWithAddress", "The source."),
      respond: ({ path: [source] }) => Effect.map(sources.reveal(source), (found) => revealedSourceJson(found, base)),
    }),
    manageEndpoint({
      ...common,
      id: "rotateSourceSecret",
      method: "POST",
      path: "/manage/v1/sources/{id}/rotate-secret",
      summary: "A new intake address",
      description:
        "The old one responds with 404 from then on, or after `keep_old_seconds`. A repeat with the same `Idempotency-Key` changes nothing and shows the address as it is now.",
      action: "source.change",
      once: { completed: "transaction" },
      response: one("SourceWithAddress", "The source."),
      parameters: [KEEP_OLD],
      errors: ["no_such_source", "bad_expiry"],
      params: { no_such_source: "id", bad_expiry: "keep_old_seconds" },
      respond: ({ path: [source], query: { keep_old_seconds: keepOldSeconds = null } }) =>
        Effect.map(sources.rotateSecret(source, { keepOldSeconds }), (found) => revealedSourceJson(found, base)),
      repeated: ({ path: [source] }) => Effect.map(sources.reveal(source), (found) => revealedSourceJson(found, base)),
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
      response: one("TestEvent", "The event.", 201),
      errors: ["no_such_source", "bad_body"],
      respond: ({ path: [source], body: { fields } }) => {
        const sent = Effect.map(sendTestEvent({ intake, audit }, source, fields), (receipt) => ({
          id: receipt.id,
          duplicate: receipt.repeatOf !== null,
          empty: receipt.empty,
        }))
        return Effect.catchTag(sent, "IntakeError", ({ message }) =>
          Effect.fail<ManageError>({ code: "bad_body", message, param: "/fields" }),
        )
      },
    }),
    manageEndpoint({
      ...ofColumns,
      id: "listColumns",
      method: "GET",
      path: "/manage/v1/sources/{id}/columns",
      summary: "The columns of a source's table",
      description: "Every column with the field it takes. The list is not paginated.",
      action: "column.read",
      response: list("SourceColumn", "The columns."),
      respond: ({ path: [source] }) => Effect.map(columns.list(source), (all) => whole(all.map(sourceColumnJson))),
    }),
    manageEndpoint({
      ...ofColumns,
      id: "changeColumn",
      method: "PATCH",
      path: "/manage/v1/sources/{id}/columns/{column}",
      summary: "Change a column",
      description:
        "Changes its label, its type, or both: values that the new type cannot hold exactly move to a sibling column.",
      action: "column.change",
      segments: [id, nameSegment("column", "The column's name in the database.", "total")],
      body: columnChange,
      response: one("RetypeResult", "The column, and what moved."),
      errors: [...ofColumns.errors, "bad_label", "views_depend", "objects_depend", "views_slow", "table_busy"],
      params: { ...ofColumns.params, bad_label: "/label", views_depend: "/with_views" },
      respond: Effect.fnUntraced(function* ({ path: [source, name], body: { label, type, with_views } }) {
        if (label === undefined && type === undefined) return yield* Effect.fail(noChange)
        const change = { label, type, withViews: with_views ?? false }
        return changedColumnJson(yield* changeColumn(columns, source, name, change))
      }),
    }),
    manageEndpoint({
      ...ofColumns,
      id: "tryRetype",
      method: "GET",
      path: "/manage/v1/sources/{id}/columns/{column}/retype",
      summary: "Try a change of a column's type",
      description:
        "What a change to this type would do, with the first values that would move. Nothing is changed, and it is refused where something depends on the column that cannot be recreated.",
      action: "column.change",
      segments: [id, nameSegment("column", "The column's name in the database.", "total")],
      parameters: [TYPE],
      response: one("RetypeTrial", "What would happen."),
      errors: [...ofColumns.errors, "views_depend", "objects_depend", "table_busy"],
      respond: ({ path: [source, name], query: { type } }) =>
        Effect.map(columns.tryRetype(source, name, type!), retypeTrialJson),
    }),
  ]
})
