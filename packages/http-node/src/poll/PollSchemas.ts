/** The schemas of the management API's responses: polls and their runs. */
import { FILE_FORMATS } from "@data-cabinet/core/file/FileFormat"
import type { JsonSchema } from "../api/Endpoint.ts"
import { flag, id, object, orNull, text, textOrNull, time, whole, wholeOrNull } from "../openapi/SchemaForms.ts"

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
          key: textOrNull("The JSON text of its key; null: its whole content is the key."),
          fresh: flag("Whether it was not seen before."),
        },
        "An item.",
      ),
    },
    beginning: textOrNull("The beginning of a response that could not be read; else null."),
  },
  "What one request of a poll brought. Nothing of it is kept.",
)

export const POLL_SCHEMAS = {
  Poll: object(
    {
      id: id("The poll's id.", 1),
      source_id: id("The source's id.", 1),
      url: text("The requested URL."),
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
} satisfies Record<string, JsonSchema>
