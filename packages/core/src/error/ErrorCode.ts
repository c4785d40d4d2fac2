/**
 * The closed table of the read API's error codes. Every error that the API returns is listed here with its type: an
 * unlisted code does not compile, and `docs/errors.md` is generated from this table.
 */

/** The error types that a client distinguishes. */
export type ErrorType = "invalid_request" | "unauthorized" | "not_found" | "conflict" | "rate_limited" | "unavailable"

/** The type of each code. */
export const ERROR_TYPES = {
  bad_request: "invalid_request",
  unknown_param: "invalid_request",
  bad_limit: "invalid_request",
  bad_cursor: "invalid_request",
  bad_source_id: "invalid_request",
  bad_channel: "invalid_request",
  bad_follower: "invalid_request",
  bad_filter: "invalid_request",
  bad_fo: "invalid_request",
  bad_fv: "invalid_request",
  bad_dir: "invalid_request",
  bad_period: "invalid_request",
  unknown_column: "invalid_request",
  bad_columns: "invalid_request",
  bad_selection: "invalid_request",
  method_not_allowed: "invalid_request",
  invalid_key: "unauthorized",
  no_such_source: "not_found",
  no_such_table: "not_found",
  no_such_endpoint: "not_found",
  table_busy: "conflict",
  query_failed: "conflict",
  too_many_followers: "conflict",
  rate_limited: "rate_limited",
  query_timeout: "unavailable",
  reader_off: "unavailable",
  internal_error: "unavailable",
} as const satisfies Record<string, ErrorType>

export type ErrorCode = keyof typeof ERROR_TYPES

/** The meaning of each code, in one sentence for the reference page and `docs/errors.md`. */
export const ERROR_MEANINGS = {
  bad_request:
    "The request is not valid HTTP: two hosts, raw control characters, a header section that is too large (431) or does not arrive in time (408).",
  unknown_param: "The query has a parameter that this endpoint does not know.",
  bad_limit: "`limit` is not an integer from 1 to 1000.",
  bad_cursor: "`cursor` was not issued by this endpoint, or was issued for another selection.",
  bad_source_id: "The source id is not a positive integer.",
  bad_channel: "`channel` must be `webhook`, `file` or `pull`.",
  bad_follower:
    "`follower` is missing or is not a name, was sent together with `cursor`, or reads another `source_id` or `channel`.",
  bad_filter: "The numbers of `fc`, `fo`, `fv` and `fj` do not match, or `fj` is neither `and` nor `or`.",
  bad_fo: "A filter condition is not one of the listed values.",
  bad_fv: "A filter value does not fit the column's type, or is given where none is allowed.",
  bad_dir: "`dir` is neither `asc` nor `desc`, or belongs to no `sort`.",
  bad_period: "The period is incomplete, malformed or ends before it begins, or its column holds no dates.",
  unknown_column: "The object has no column of this name.",
  bad_columns: "The lists of columns contradict each other, name a column twice, or leave no column to show.",
  bad_selection: "The selection does not apply to this object, or a single-valued parameter was sent twice.",
  method_not_allowed: "The endpoint does not support this method; see the header `Allow`.",
  invalid_key: "No key, a wrong key, a revoked key, or two different keys in the two headers.",
  no_such_source: "The cabinet has no source with this id.",
  no_such_table: "The cabinet has no readable table or view of this name.",
  no_such_endpoint: "The API has no such path.",
  table_busy: "The table is locked by another session; try again.",
  query_failed: "The view's query failed; the cause is in `message`.",
  too_many_followers: "The key, or the cabinet, has as many followers as it may.",
  rate_limited:
    "The key has used up its requests for this minute, or has as many waiting requests and streams open as it may; `Retry-After` says when to retry.",
  query_timeout: "The query did not finish in time; request less, or try again.",
  reader_off: "Reading is switched off, or the database is unreachable.",
  internal_error: "An internal error; `message` has the id under which it was logged.",
} as const satisfies Record<ErrorCode, string>
