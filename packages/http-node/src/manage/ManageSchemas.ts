/** The schemas of the management API's responses. What the read API has too keeps its name and its shape. */
import { FILE_FORMATS } from "@data-cabinet/core/file/FileFormat"
import { PAUSE_REASONS } from "@data-cabinet/core/delivery/Address"
import { DELIVERY_STATES } from "@data-cabinet/core/delivery/Attempt"
import { NOT_SENT } from "@data-cabinet/core/delivery/TestFilter"
import { PERSON_ROLES, ROLES } from "@data-cabinet/core/key/Role"
import { ISSUERS, SIGN_IN_METHODS } from "@data-cabinet/core/person/Person"
import { COLUMN_KINDS } from "@data-cabinet/core/row/FieldColumn"
import { FILTER_CONDITIONS } from "@data-cabinet/core/selection/Selection"
import { SOURCE_ENCODINGS } from "@data-cabinet/core/source/Source"
import { CHALLENGE_PROVIDERS } from "@data-cabinet/core/verification/Challenge"
import { HMAC_ALGORITHMS, SIGNATURE_ENCODINGS } from "@data-cabinet/core/verification/Recipe"
import { RECIPE_NAMES } from "@data-cabinet/core/verification/Recipes"
import { VERIFICATION_MODES } from "@data-cabinet/core/verification/Verification"
import { REFUSAL_REASONS } from "@data-cabinet/core/verification/VerifySender"
import type { JsonSchema } from "../api/Endpoint.ts"
import { id, object, orNull, time } from "../openapi/SchemaForms.ts"
import { EVENT_FIELDS, EVENT_OPTIONAL_FIELDS, SCHEMAS } from "../openapi/Schemas.ts"
import { MANAGE_CODES, MANAGE_TYPES } from "./ManageCode.ts"

export const manageRef = (name: keyof typeof MANAGE_SCHEMAS): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

const text = (description: string): JsonSchema => ({ type: "string", description })
const textOrNull = (description: string): JsonSchema => ({ type: ["string", "null"], description })
const whole = (description: string): JsonSchema => ({ type: "integer", minimum: 0, description })
const wholeOrNull = (description: string): JsonSchema => ({ type: ["integer", "null"], minimum: 0, description })
const flag = (description: string): JsonSchema => ({ type: "boolean", description })

const texts = (description: string): JsonSchema => ({ type: "array", items: { type: "string" }, description })

const sourceFields = {
  ...((SCHEMAS.Source as JsonSchema)["properties"] as { readonly [name: string]: JsonSchema }),
  encoding: {
    enum: [...SOURCE_ENCODINGS, null],
    description: "The charset of its forms; null: detected for each submission.",
  },
  thanks_url: textOrNull("Where a browser is redirected after a plain form; null: the built-in page."),
  keep_headers: texts("The headers that original requests keep besides those that all keep."),
  header_fields: texts("Headers that become fields of the events, too."),
  keep_query: flag("Whether original requests keep the query string as sent."),
  verify: orNull(
    object(
      {
        recipe: { enum: RECIPE_NAMES, description: "How the sender signs." },
        mode: { enum: [...VERIFICATION_MODES], description: "What happens to a request that is not the sender's." },
        hmac: orNull(
          object(
            {
              header: text("The header in which the signature stands."),
              algorithm: { enum: HMAC_ALGORITHMS, description: "The hash function." },
              encoding: { enum: SIGNATURE_ENCODINGS, description: "How the signature is written." },
              prefix: text("What the signature begins with."),
              timestamp_header: textOrNull(
                "The header with the signed seconds since 1970; null: the body alone is signed.",
              ),
              tolerance_seconds: whole("How far the timestamp may be from now."),
            },
            "How the sender signs, for the recipe `hmac`; else null.",
          ),
        ),
        keeps_old_secret: flag("Whether the secret before this one counts, too."),
      },
      "How the sender is verified; null: whoever has the intake address may send.",
    ),
  ),
  challenge: orNull(
    object(
      { provider: { enum: [...CHALLENGE_PROVIDERS], description: "Who asks." } },
      "The provider whose question about the address is answered; null: none but those of the recipe.",
    ),
  ),
  rate: wholeOrNull("How many requests a minute it takes, whoever sends them; null: the common limits."),
  old_secret_until: orNull(
    time("Until when the intake address of before the last rotation is accepted, too; null: no other is."),
  ),
  limited: orNull(
    object(
      { count: whole("How many."), since: time("The first of them."), last_at: time("The last of them.") },
      "Requests to it that were refused with 429 lately; null if there were none within a day.",
    ),
  ),
}

const actor = (description: string) =>
  object(
    {
      kind: { enum: ["person", "token", "cli", "program"] },
      id: orNull(id("Of the person or the token.", 1)),
      name: text("The name."),
    },
    description,
  )

const keyFields = {
  id: id("Its id.", 1),
  name: text("Its name."),
  prefix: text("The beginning of the secret, to tell several apart."),
  created_at: time("When it was issued."),
  expires_at: orNull(time("When it ends; null: never.")),
  revoked_at: orNull(time("When it was revoked; else null.")),
}
const apiKeyFields = { ...keyFields, last_request_at: orNull(time("Its last request; null: none.")) }
const tokenFields = {
  ...keyFields,
  role: { enum: ROLES, description: "What it may do." },
  only: {
    type: ["array", "null"],
    items: { type: "string" },
    description: "The tables and views that a reader is limited to, by their names now; null: none.",
  },
  last_used_at: orNull(time("Its last use, to the minute; null: none.")),
}

const personFields = {
  id: id("Their id.", 1),
  name: text("Their name."),
  role: { enum: PERSON_ROLES, description: "What they may do." },
  issuer: { enum: [...ISSUERS, null], description: "Who signs them in; null: they sign in here." },
  has_password: flag("Whether they have set a password."),
  created_at: time("When they were added."),
  signed_in_at: orNull(time("When they signed in last; null: never.")),
  link_expires_at: orNull(time("Until when an unused link is valid; else null.")),
  removed_at: orNull(time("When they were removed; else null.")),
}

const session = object(
  {
    id: id("The session's id.", 1),
    person: object({ id: id("The person's id.", 1), name: text("The person's name.") }, "Whose it is."),
    method: { enum: [...SIGN_IN_METHODS], description: "How the person signed in." },
    created_at: time("When it began."),
    last_seen_at: time("Its last request, to the minute."),
    expires_at: time("When it ends at the latest; 12 hours without a request end it, too."),
    client: textOrNull("The client address at sign-in."),
    user_agent: textOrNull("The browser at sign-in."),
  },
  "A session of a person.",
)

const subscription = {
  oneOf: [{ const: "all" }, { type: "array", items: { type: "integer", minimum: 1 } }],
  description: "`all`, including later ones, or the ids of sources.",
}
const filterFields = {
  fc: text("The field's name, as its sender writes it."),
  fo: { enum: FILTER_CONDITIONS, description: "The condition." },
  fv: text("The value; empty for `empty` and `notempty`."),
}
const addressFields = {
  id: id("The address's id.", 1),
  url: text("Where deliveries are sent."),
  sources: subscription,
  filters: {
    type: "array",
    items: object(filterFields, "A condition."),
    description: "It is sent only events for which all of them hold.",
  },
  filtered_events: whole("How many events it was not sent because of its filters, but for the last seconds."),
  header_names: texts("The headers that deliveries have besides ours. Their values are secret."),
  rate: wholeOrNull("The most deliveries a second; null: as fast as it takes them."),
  timeout_seconds: wholeOrNull("How long an attempt may take; null: 15 seconds."),
  give_up_after_seconds: wholeOrNull("How long it may fail without a break before it is paused; null: for ever."),
  pause_on_gone: { type: "boolean", description: "Whether a response of 410 pauses it." },
  created_at: time("When it was added."),
  paused_at: orNull(time("Since when nothing is sent; else null.")),
  paused_because: {
    enum: [...PAUSE_REASONS, null],
    description:
      "Why it was paused by itself: it failed for as long as it may, or responded with 410. Null if somebody paused it, or it is not paused.",
  },
  failing_since: orNull(time("The first failed attempt since the last delivered one; else null.")),
}

const activityStep = {
  at: time("Its begin."),
  events: whole("All events received in it."),
  repeats: whole("Those of them that repeat others."),
  empty: whole("Those of them without a filled field."),
  history: whole("Those of them that come from files and first polls."),
}
const deliveryFigures = {
  delivered: whole("Attempts that were delivered."),
  failed: whole("Attempts that failed; a delivery may have many."),
  p50_millis: wholeOrNull("Within how many milliseconds half of the delivered attempts were over; null without any."),
  p95_millis: wholeOrNull("The same of 95 in 100."),
}

const deliveryFields = {
  id: id("The delivery's id.", 731),
  type: { enum: ["event.received", "ping"] },
  address_id: id("The address's id.", 1),
  event_id: orNull(id("The event; null for a ping.", 10417)),
  state: { enum: DELIVERY_STATES },
  attempts: whole("How many were begun."),
  created_at: time("When it was created."),
  due_at: orNull(time("When it is sent next; null unless it is due.")),
}

const outcome = {
  status: wholeOrNull("The status of the response; null: there was none."),
  failure: textOrNull("Why there was none; else null."),
  peer: textOrNull("The address that was connected to."),
  duration_ms: whole("How long it took."),
  response_body: textOrNull("The beginning of the response."),
}

const pollRun = object(
  {
    id: id("The run's id.", 1),
    poll_id: id("The poll's id.", 1),
    at: time("When it began."),
    duration_ms: whole("How long it took."),
    outcome: { enum: ["read", "unchanged", "failed"] },
    status: wholeOrNull("The status of the response."),
    failure: textOrNull("Why it failed; else null."),
    peer: textOrNull("The address that was connected to."),
    bytes: whole("The size of the response."),
    items: whole("How many items it had."),
    fresh: whole("How many were new."),
    import_id: orNull(id("The import of the new items; else null.", 1)),
    next_at: orNull(time("When it runs next.")),
  },
  "One run of a poll.",
)

const pollTrial = object(
  {
    status: wholeOrNull("The status of the response; null: there was none."),
    failure: textOrNull("Why nothing could be read; else null."),
    peer: textOrNull("The address that was connected to."),
    duration_ms: whole("How long it took."),
    bytes: whole("The size of the response."),
    content_type: textOrNull("Its `Content-Type`."),
    etag: textOrNull("Its `ETag`, with which the next run would ask whether something is new."),
    last_modified: textOrNull("Its `Last-Modified`, for the same."),
    format: { enum: [...FILE_FORMATS, null], description: "As it was read; null if it could not be." },
    encoding: textOrNull("The charset that it was read in."),
    pointer: text("The JSON pointer to the list; empty: the whole response."),
    key_field: textOrNull("What an item is recognized by; null: its whole content."),
    items: whole("How many items it had."),
    fresh: whole("How many of them a run would take, because they were not seen before."),
    history: flag("Whether a run would take them as history, which is not delivered."),
    preview: {
      type: "array",
      description: "The first items, at most 5.",
      items: object(
        {
          payload: text("The item as JSON text, so that no digit is lost; cut after 10,000 characters."),
          whole: flag("Whether it is not cut."),
          key: textOrNull("The JSON text of what it is recognized by; null: its whole content."),
          fresh: flag("Whether it was not seen before."),
        },
        "An item.",
      ),
    },
    beginning: textOrNull("The beginning of a response that could not be read; else null."),
  },
  "What one request of a poll brought. Nothing of it is kept.",
)

const column = object(
  {
    name: text("The name in the database."),
    field: text("The field whose values it takes."),
    label: text("The label shown on screen."),
    type: { enum: COLUMN_KINDS },
    event_id: orNull(id("The event that created the column.", 1)),
    created_at: time("When it was created."),
  },
  "A column of a source's table.",
)

export const MANAGE_SCHEMAS = {
  ...SCHEMAS,
  Error: object(
    {
      error: object(
        {
          type: { enum: MANAGE_TYPES },
          code: { enum: Object.keys(MANAGE_CODES) },
          message: text("What was expected, in words."),
          param: textOrNull("The query parameter or path segment, or a JSON pointer into the body."),
        },
        "What is wrong.",
      ),
    },
    "The form of every error.",
  ),
  Self: object(
    {
      kind: { enum: ["token", "person"] },
      id: id("Of the token or the person.", 1),
      name: text("The name."),
      role: { enum: ROLES },
      session: { oneOf: [session, { type: "null" }], description: "Null without one." },
    },
    "Who is asking.",
  ),
  Cabinet: object(
    {
      version: text("The version of its server."),
      base_url: text("The base address of its links, without a trailing slash."),
      base_url_known: flag("False if nobody set it, so that it is only where the server listens."),
    },
    "A cabinet.",
  ),
  OwnSource: object(sourceFields, "A source with its settings."),
  SourceWithAddress: object(
    {
      ...sourceFields,
      intake_url: text("The intake address. Whoever has it may send."),
      intake_path: text("Its path."),
      rows_url: textOrNull("Where its rows are read."),
      base_url_known: flag("False if the address's host is a guess."),
    },
    "A source with its intake address.",
  ),
  SourceColumn: column,
  RetypeResult: object(
    {
      ...(column["properties"] as { readonly [name: string]: JsonSchema }),
      moved: whole("How many values the new type could not hold; they moved to `sibling`."),
      sibling: textOrNull("The column they moved to."),
      views: { type: "array", items: { type: "string" }, description: "The views that were recreated." },
    },
    "A column after its change.",
  ),
  RetypeTrial: object(
    {
      misfits: {
        type: ["integer", "null"],
        description: "How many values would move; null if they are too many to count in time.",
      },
      examples: {
        type: "array",
        items: object(
          { event_id: whole("The event of the row."), value: text("The value, cut after 200 characters.") },
          "A value that would move.",
        ),
        description: "The first of them, at most 20.",
      },
      sibling: textOrNull("The column that they would move to."),
      views: { type: "array", items: { type: "string" }, description: "The views that would be recreated." },
    },
    "What a change of a column's type would do.",
  ),
  SavedView: object(
    {
      id: id("Its id.", 1),
      title: text("What it is called."),
      schema: text("The schema of its table or view."),
      name: text("The name of its table or view."),
      query: text("The query string of its rows."),
      shared: flag("Whether everybody sees it."),
      maker: actor("Who saved it."),
      created_at: time("When it was saved."),
    },
    "A selection of rows, saved under a title.",
  ),
  Person: object(personFields, "A person who manages the cabinet."),
  InvitedPerson: object(
    {
      ...personFields,
      link: text("The one-time link, shown only in this response."),
      link_expires_at: time("Until when it is valid."),
    },
    "A person with a one-time link.",
  ),
  Session: session,
  Count: object({ count: whole("How many.") }, "The number of objects that were affected."),
  FeedStart: object(
    { cursor: text("The cursor, for the source and the channel that were asked for.") },
    "A place in the feed.",
  ),
  Key: object(apiKeyFields, "A key of the read API."),
  IssuedKey: object(
    { ...apiKeyFields, key: text("The key, shown only in this response.") },
    "A key when it is issued.",
  ),
  Token: object(tokenFields, "An access token."),
  IssuedToken: object(
    { ...tokenFields, token: text("The token, shown only in this response.") },
    "A token when it is issued.",
  ),
  Address: object(addressFields, "A delivery address."),
  AddressWithSecret: object(
    {
      ...addressFields,
      secret: text("The signing secret."),
      previous_secret: {
        oneOf: [
          object(
            { secret: text("It also signs deliveries."), until: time("Until when it also signs.") },
            "The previous secret.",
          ),
          { type: "null" },
        ],
      },
    },
    "A delivery address with its signing secret.",
  ),
  PingResult: object(
    {
      delivery_id: id("The ping's delivery.", 732),
      delivered: flag("Whether the response was a 2xx."),
      ...outcome,
    },
    "The outcome of a ping.",
  ),
  AddressTest: object(
    {
      address_id: id("The address's id.", 1),
      event_id: id("The event's number.", 10417),
      passes: flag("Whether the address would be sent the event."),
      reasons: {
        type: "array",
        items: object({ code: { enum: [...NOT_SENT] }, message: text("The reason in words.") }, "A reason."),
        description: "Why not.",
      },
      conditions: {
        type: "array",
        items: object(
          {
            ...filterFields,
            holds: flag("Whether it holds."),
            value: textOrNull("What the event has there, as JSON text, cut after 200 characters; null: no such field."),
          },
          "A condition.",
        ),
        description: "The filter's conditions.",
      },
      delivery_id: orNull(id("The delivery that was made of it; null: none.", 731)),
    },
    "Whether an address is sent an event.",
  ),
  Attempt: object(
    {
      delivery_id: id("The delivery's id.", 731),
      type: { enum: ["event.received", "ping"] },
      event_id: orNull(id("The event; null for a ping.", 10417)),
      address_id: id("The address's id.", 1),
      number: whole("From 1."),
      at: time("When it began."),
      delivered: flag("Whether the response was a 2xx."),
      ...outcome,
      next_at: orNull(time("When the next one is due; else null.")),
    },
    "An attempt to deliver.",
  ),
  DeliveryState: object(deliveryFields, "A delivery."),
  DeliveryWithLog: object(
    {
      ...deliveryFields,
      log: {
        type: "array",
        items: { $ref: "#/components/schemas/Attempt" },
        description: "Its attempts, newest first.",
      },
    },
    "A delivery with its attempts.",
  ),
  Import: object(
    {
      id: id("The import's id.", 1),
      source_id: id("The source's id.", 1),
      file: text("The file's name."),
      state: { enum: ["staging", "accepting", "done", "failed"] },
      bytes: whole("The file's size."),
      rows: whole("How many rows it has so far."),
      accepted: whole("How many of them are events."),
      refused: whole("How many were refused."),
      failure: textOrNull("Why it failed or waits; else null."),
      created_at: time("When it began."),
      finished_at: orNull(time("When it ended; else null.")),
    },
    "An imported file, or the new items of a poll.",
  ),
  Poll: object(
    {
      id: id("The poll's id.", 1),
      source_id: id("The source's id.", 1),
      url: text("What is requested."),
      every_seconds: whole("Seconds from one run to the next."),
      format: { enum: ["json", "ndjson", "csv", null] },
      pointer: text("The JSON pointer to the list; empty: the whole response."),
      key_field: textOrNull("What an item is recognized by; null: its whole content."),
      header_names: { type: "array", items: { type: "string" }, description: "Their values are secret." },
      created_at: time("When it was added."),
      paused: flag("Whether it is paused."),
      due_at: orNull(time("When it runs next; null while paused.")),
      failures: whole("Failed runs since the last good one."),
      first_at: orNull(time("When its first run was kept; null until then.")),
    },
    "A poll.",
  ),
  PollRun: pollRun,
  PollTrial: pollTrial,
  RowCount: object(
    {
      count: whole("How many rows."),
      at_least: flag("Whether there may be more: counting ends at 10,000, or after a second."),
    },
    "How many rows a selection has.",
  ),
  Facets: object(
    {
      column: text("The column."),
      data: {
        type: "array",
        maxItems: 20,
        items: object(
          { value: { description: "As rows have it." }, count: whole("How many rows have it.") },
          "A value.",
        ),
        description: "The most frequent values first.",
      },
      others: whole("How many of the rows have other values."),
      rows: whole("How many rows were looked at: the first of the selection."),
      exact: flag("Whether these are all rows of the selection."),
    },
    "The values that a column has most often.",
  ),
  TestEvent: object(
    {
      id: id("The event's number.", 10417),
      duplicate: flag("Whether it repeats another."),
      empty: flag("Whether no field is filled."),
    },
    "An accepted event.",
  ),
  AuditEntry: object(
    {
      id: id("The entry's id.", 1),
      at: time("When it began."),
      actor: actor("Who did it."),
      role: { enum: ROLES },
      client: textOrNull("The client's address."),
      request_id: textOrNull("The request's id."),
      action: text("What was done, such as `source.create`."),
      object: textOrNull("What it was done to, such as `source 5`."),
      changes: { type: "object", additionalProperties: true, description: "What was asked for, without secrets." },
      ended_at: orNull(time("When it ended; null while it is open.")),
      outcome: textOrNull("`done`, or the code of the error; null while it is open."),
    },
    "An entry of the audit log.",
  ),
  SearchIndexState: object(
    { table: text("The table."), index: text("The index."), built: flag("False if there was one already.") },
    "A table's search index.",
  ),
  ActivityStep: object(activityStep, "An hour or a day."),
  Overview: object(
    {
      hours: {
        type: "array",
        items: object(activityStep, "An hour."),
        description: "The last 48 hours, oldest first.",
      },
      sources: {
        type: "array",
        items: object(
          {
            source_id: id("The source's id.", 1),
            last_at: orNull(time("When its last event was received; null without one.")),
            last_event_id: orNull(id("Its last event.", 10417)),
            days: {
              type: "array",
              items: { type: "integer", minimum: 0 },
              description: "Events of the last 7 days, today last.",
            },
            silence: {
              ...object(
                {
                  since: time("When the last event came that is not history."),
                  seconds: { type: "number", description: "For how long none came." },
                  active_days: whole("On how many days of the four weeks before some came."),
                  usual_seconds: {
                    type: ["number", "null"],
                    description: "The third longest silence of those weeks; null if there are not three.",
                  },
                },
                "Null while it is shorter than two hours, and for a source that is switched off.",
              ),
              type: ["object", "null"],
            },
            quiet: flag("Whether it usually receives, and is silent for longer than usual."),
          },
          "A source.",
        ),
        description: "All sources.",
      },
      delivery_hours: {
        type: "array",
        items: object({ at: time("Its begin."), ...deliveryFigures }, "An hour with attempts."),
        description: "The last 24 hours, oldest first.",
      },
      deliveries: object(deliveryFigures, "The last 24 hours as a whole."),
      waiting: {
        type: "array",
        items: object(
          {
            address_id: id("The address's id.", 1),
            waiting: whole("How many deliveries wait for it, counted to 1,000."),
            oldest: orNull(time("When the oldest of them was created.")),
          },
          "A failing address.",
        ),
        description: "Addresses that fail and are not paused.",
      },
      counted_until: orNull(time("Events since then are still being counted; null: all are counted.")),
    },
    "What the cabinet is doing.",
  ),
  Diagnostics: object(
    {
      findings: {
        type: "array",
        items: object(
          {
            check: text("What was checked."),
            level: { enum: ["ok", "warn", "bad"], description: "`bad` needs attention now, `warn` soon." },
            message: text("What was found, and what to do about it."),
          },
          "A finding.",
        ),
        description: "What was found, in words.",
      },
      database: { type: "object", additionalProperties: true, description: "What `cabinet doctor` measures." },
      deliveries: { type: "object", additionalProperties: true, description: "The state of the delivery queue." },
    },
    "The state of the database and of the deliveries.",
  ),
  OriginalRequest: object(
    {
      received_at: time("When it was received."),
      body: textOrNull("The first 65,536 bytes as text, if they are text in the charset."),
      body_base64: textOrNull("The same as bytes, if they are not UTF-8."),
      body_bytes: whole("The size of the whole body."),
      truncated: flag("Whether it was larger than what is kept."),
      content_type: textOrNull("As sent."),
      ip: textOrNull("The sender's address."),
      headers: object(
        {
          referer: textOrNull("As sent."),
          origin: textOrNull("As sent."),
          user_agent: textOrNull("As sent."),
          accept_language: textOrNull("As sent."),
        },
        "The headers that every source keeps.",
      ),
      kept_headers: {
        type: "array",
        items: object({ name: text("In lower case."), value: text("As sent.") }, "A header."),
        description: "The headers that the source's settings keep.",
      },
      query: textOrNull("The query string as sent, if the source keeps it."),
      verification: orNull(
        object(
          {
            recipe: { enum: RECIPE_NAMES, description: "How the sender was to have signed." },
            verified: flag("Whether it is the sender's."),
            reason: { enum: [...REFUSAL_REASONS, null], description: "Why it is not; null if it is." },
          },
          "What came of its verification; null if the source had no recipe.",
        ),
      ),
      encoding: object(
        {
          name: text("The charset that it was decoded with."),
          decided_by: text("How the charset was determined."),
          replaced: whole("Characters that could not be decoded."),
        },
        "How it was read.",
      ),
    },
    "A request as it was received.",
  ),
  ListedEvent: object(
    {
      ...EVENT_FIELDS,
      state: { enum: ["row", "repeat", "trashed", "purged"], description: "What became of it." },
      empty: flag("Whether no field is filled."),
      row_waits: flag("Whether its row is deferred because the table is locked."),
      trashed_by: {
        oneOf: [actor("Who moved it to the trash."), { type: "null" }],
        description: "Null if it is not there, or if that is not known.",
      },
      deliveries: object(
        {
          due: whole("To be sent, now or later."),
          delivered: whole("Delivered."),
          failed: whole("Given up."),
          cancelled: whole("Cancelled."),
        },
        "How many deliveries it has in which state.",
      ),
    },
    "An event as the feed has it, with what became of it.",
    EVENT_OPTIONAL_FIELDS,
  ),
  EventWithContext: object(
    {
      event: { $ref: "#/components/schemas/Event" },
      original: { oneOf: [{ $ref: "#/components/schemas/OriginalRequest" }, { type: "null" }] },
      row: { oneOf: [{ $ref: "#/components/schemas/Row" }, { type: "null" }] },
      row_waits: flag("Whether its row is deferred because the table is locked."),
      deliveries: { type: "array", items: { $ref: "#/components/schemas/DeliveryState" } },
    },
    "An event with what is stored about it.",
  ),
} satisfies Record<string, JsonSchema>
