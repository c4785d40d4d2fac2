/** Polls and their runs as JSON: only the names of a poll's headers. */
import type { Poll, PollRun, PollTrial } from "./Poll.ts"

export const pollJson = (poll: Poll) => ({
  id: poll.id,
  source_id: poll.sourceId,
  url: poll.url,
  every_seconds: poll.everySeconds,
  format: poll.format,
  pointer: poll.pointer,
  key_field: poll.keyField,
  header_names: poll.headerNames,
  created_at: poll.createdAt,
  paused: poll.paused,
  due_at: poll.dueAt,
  failures: poll.failures,
  first_at: poll.firstAt,
})

export const pollRunJson = (run: PollRun) => ({
  id: run.id,
  poll_id: run.pollId,
  at: run.at,
  duration_ms: run.durationMs,
  outcome: run.outcome,
  status: run.status,
  failure: run.failure,
  peer: run.peer,
  bytes: run.bytes,
  items: run.items,
  fresh: run.fresh,
  import_id: run.importId,
  next_at: run.nextAt,
})

/** Items stay JSON texts, so that no digit of a number is lost. */
export const pollTrialJson = (trial: PollTrial) => ({
  status: trial.status,
  failure: trial.failure,
  peer: trial.peer,
  duration_ms: trial.durationMs,
  bytes: trial.bytes,
  content_type: trial.contentType,
  etag: trial.etag,
  last_modified: trial.lastModified,
  format: trial.format,
  encoding: trial.encoding,
  pointer: trial.pointer,
  key_field: trial.keyField,
  items: trial.items,
  fresh: trial.fresh,
  history: trial.history,
  preview: trial.preview,
  beginning: trial.beginning,
})
