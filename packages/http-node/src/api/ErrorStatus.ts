/** The HTTP status of every error code of the read API. */
import type { ErrorCode } from "@data-cabinet/core/error/ErrorCode"

export const ERROR_STATUS = {
  unknown_param: 400,
  bad_limit: 400,
  bad_cursor: 400,
  bad_source_id: 400,
  bad_channel: 400,
  bad_filter: 400,
  bad_fo: 400,
  bad_fv: 400,
  bad_dir: 400,
  bad_period: 400,
  unknown_column: 400,
  bad_columns: 400,
  bad_selection: 400,
  method_not_allowed: 405,
  invalid_key: 401,
  no_such_source: 404,
  no_such_table: 404,
  no_such_endpoint: 404,
  table_busy: 409,
  query_failed: 409,
  rate_limited: 429,
  query_timeout: 503,
  reader_off: 503,
  internal_error: 500,
} as const satisfies Record<ErrorCode, number>
