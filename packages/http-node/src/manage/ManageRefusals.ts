/** The error codes of the management API, each with its status and its meaning. */
import { type ErrorCode, ERROR_MEANINGS } from "@data-cabinet/core/error/ErrorCode"
import type { SettingCode, Settings } from "@data-cabinet/core/json/Setting"
import { SECRET_SETTINGS } from "@data-cabinet/core/delivery/ClientIdentity"
import { SENDING_SETTINGS } from "@data-cabinet/core/delivery/SendingSettings"
import { S3_SETTINGS } from "@data-cabinet/core/destination/S3Settings"
import { POLL_SETTINGS } from "@data-cabinet/core/poll/PollSettings"
import { SOURCE_SETTINGS } from "@data-cabinet/core/source/SourceSettings"
import type { ManageCode } from "./ManageCode.ts"
import { ERROR_STATUS } from "../server/ErrorStatus.ts"

export interface Placed {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 503
  readonly meaning: string
}

const codesOf = <S, D>({ errors }: Settings<S, D>): Readonly<Record<SettingCode<D>, Placed>> =>
  Object.fromEntries(errors.map(({ code, meaning }): [string, Placed] => [code, { status: 400, meaning }])) as never

export const OWN = {
  unauthorized: { status: 401, meaning: "The credentials are missing, wrong, expired or revoked." },
  cross_origin: {
    status: 403,
    meaning: "A request of a session that changes something came from another origin.",
  },
  role_missing: { status: 403, meaning: "The role does not allow this; the message names the role that does." },
  bad_id: { status: 400, meaning: "An id in the URL is not a positive integer." },
  bad_param: { status: 400, meaning: "The value of a query parameter is invalid, or the parameter is repeated." },
  unsupported_media_type: { status: 415, meaning: "The body's `Content-Type` is not `application/json`." },
  too_large: { status: 413, meaning: "The body, or the file, is too large." },
  bad_json: { status: 400, meaning: "The body is not JSON; the message says where." },
  bad_body: { status: 400, meaning: "A field of the body is missing or invalid; `param` points to it." },
  unknown_field: {
    status: 400,
    meaning: "The body has a field that this endpoint does not have; `param` points to it.",
  },
  bad_idempotency_key: {
    status: 400,
    meaning: "The `Idempotency-Key` is not 1 to 255 visible ASCII characters.",
  },
  idempotency_mismatch: {
    status: 422,
    meaning: "The `Idempotency-Key` was sent with another request within the last 24 hours.",
  },
  in_progress: { status: 409, meaning: "The first request with this `Idempotency-Key` is still in progress." },
  outcome_unknown: {
    status: 409,
    meaning:
      "The first request with this `Idempotency-Key` did not finish, for example because its server was killed: check whether its work was done.",
  },
  unavailable: { status: 503, meaning: "The database cannot be reached now, or the outcome of a write is unknown." },
  bad_url: { status: 400, meaning: "Deliveries cannot be sent to this URL." },
  not_public: { status: 400, meaning: "The URL's host resolves to an address that is not public." },
  name_not_found: { status: 400, meaning: "The URL's host name cannot be resolved." },
  bad_range: { status: 400, meaning: "The time range is empty, or its bounds are not RFC 3339 times." },
  no_such_address: { status: 404, meaning: "No delivery address has this id." },
  no_such_delivery: { status: 404, meaning: "No delivery has this id." },
  not_resent: { status: 409, meaning: "The delivery cannot be sent again; the message says why." },
  of_agent: {
    status: 409,
    meaning: "The address is an agent's subscription, which only its agent changes.",
  },
  not_skipped: { status: 409, meaning: "The event is not skipped; the message says why." },
  no_such_person: { status: 404, meaning: "No person has this id, or none who signs in here." },
  no_such_session: { status: 404, meaning: "No such session exists, or it belongs to another person." },
  name_taken: { status: 409, meaning: "Another person already has this name." },
  bad_password: {
    status: 400,
    meaning: "The password is too short, too long, too common, or too similar to the name.",
  },
  wrong_password: { status: 403, meaning: "The current password is wrong." },
  last_owner: { status: 409, meaning: "The last owner can be neither removed nor given a lesser role." },
  foreign_person: { status: 409, meaning: "The person signs in through a proxy or the embedding program." },
  not_signed_in: { status: 403, meaning: "The name, the password or the link is wrong, used or expired." },
  no_such_key: { status: 404, meaning: "No key or token has this id." },
  bad_expiry: { status: 400, meaning: "The expiry is not between a minute and ten years from now." },
  bad_only: {
    status: 400,
    meaning: "The list of a token's objects is empty or too long, or its role is not `reader`.",
  },
  bad_role: { status: 400, meaning: "No such role exists." },
  bad_name: { status: 400, meaning: "The name is empty or too long." },
  table_in_use: { status: 409, meaning: "The table cannot be dropped: something depends on it, or it is in use." },
  ...codesOf(SOURCE_SETTINGS),
  bad_verify: {
    status: 400,
    meaning: "The recipe or one of its parameters is invalid; the message says which.",
  },
  bad_verify_secret: {
    status: 400,
    meaning: "The secret of the verification is missing, or is invalid for this recipe.",
  },
  bad_challenge: {
    status: 400,
    meaning: "The provider is unknown, or its secret is missing or invalid; the message says which.",
  },
  bad_proof: {
    status: 400,
    meaning:
      "The kind of proof is unknown, or its site key or secret key is missing or invalid; the message says which.",
  },
  bad_from: {
    status: 400,
    meaning: "The well-known sender in `from` is unknown; the message lists those that are known.",
  },
  not_checkable: {
    status: 409,
    meaning: "The events of the source cannot be verified afterwards; the message says why.",
  },
  no_such_poll: { status: 404, meaning: "No poll has this id." },
  no_such_destination: { status: 404, meaning: "No destination has this id." },
  bad_location: {
    status: 400,
    meaning:
      "The location is neither a bucket, nor a stream, nor a directory that this server writes to; the message says why.",
  },
  ...codesOf(S3_SETTINGS),
  not_s3: { status: 400, meaning: "A destination of this kind has no such setting." },
  bad_credentials: { status: 400, meaning: "The credentials cannot be used; the message says why." },
  credentials_needed: { status: 400, meaning: "A bucket needs credentials, and another endpoint needs them again." },
  destination_filled: {
    status: 409,
    meaning: "The destination's place still has its files or messages; the error's message names the last event.",
  },
  destination_failed: { status: 409, meaning: "The destination's place cannot be read; the message says why." },
  destination_exists: { status: 409, meaning: "There is a destination with this location already." },
  too_many_destinations: { status: 409, meaning: "The cabinet has as many destinations as it may." },
  ...codesOf(POLL_SETTINGS),
  bad_header: { status: 400, meaning: "The header's name or value cannot be sent." },
  headers_needed: {
    status: 400,
    meaning: "The URL's origin is not the one that the headers were given for: `headers` must be sent again.",
  },
  ...codesOf(SECRET_SETTINGS),
  certificate_needed: {
    status: 400,
    meaning:
      "The URL's origin is not the one that the client certificate was given for: `client_identity` must be sent again.",
  },
  ...codesOf(SENDING_SETTINGS),
  too_many_addresses: {
    status: 409,
    meaning:
      "The source has 100,000 addresses, or 1,000 with a filter, those of every source included; the message names it.",
  },
  busy: { status: 409, meaning: "The same operation is already running; try again later." },
  no_such_schema: { status: 404, meaning: "The database has no schema of this name." },
  not_for_readers: {
    status: 409,
    meaning: "The schema belongs to the cabinet or the system, or its name cannot be given to another.",
  },
  no_right: { status: 409, meaning: "The schema or table has another owner, who alone may do this." },
  no_reader: { status: 409, meaning: "The reader role does not exist." },
  schema_exists: { status: 409, meaning: "There is a schema of this name already." },
  not_listening: { status: 409, meaning: "The database listens on no port, so no other program could connect." },
  login_denied: {
    status: 409,
    meaning: "The database's user may not create or change the login; the message says what to run.",
  },
  not_indexable: { status: 409, meaning: "The object or its columns cannot have such an index." },
  no_such_index: { status: 404, meaning: "The table has no such index that was created here." },
  bad_view_name: { status: 400, meaning: "The name of the view is too long, lacks its schema, or is the table's own." },
  no_author: { status: 409, meaning: "The author role does not exist." },
  view_failed: { status: 409, meaning: "PostgreSQL cannot create the view; the message is PostgreSQL's." },
  no_trigrams: { status: 409, meaning: "The database lacks pg_trgm and cannot install it." },
  build_failed: { status: 409, meaning: "PostgreSQL cannot build the index; the message is PostgreSQL's." },
  no_table: { status: 404, meaning: "The source's table was dropped." },
  no_such_column: { status: 404, meaning: "The source or the table has no column of this name." },
  bad_label: { status: 400, meaning: "The label is empty or too long." },
  bad_notation: { status: 400, meaning: "The notation does not apply to the column or to its new type." },
  views_depend: { status: 409, meaning: "Views depend on the column; `with_views` recreates them." },
  fixed_column: { status: 409, meaning: "The column belongs to every source's table and cannot be dropped." },
  column_filled: { status: 409, meaning: "The column has values." },
  column_used: { status: 409, meaning: "An index or a saved view uses the column." },
  columns_used_up: { status: 409, meaning: "The table has numbered too many columns to drop one." },
  objects_depend: { status: 409, meaning: "Objects that cannot be recreated depend on the column or table." },
  views_slow: { status: 409, meaning: "The views could not be recreated in time." },
  rows_without_event: { status: 409, meaning: "Rows whose event is gone cannot take another type." },
  row_refused: { status: 409, meaning: "The database refuses a row of the new table; the message says why." },
  rebuild_running: { status: 409, meaning: "The table is being rebuilt already." },
  rebuild_ended: {
    status: 409,
    meaning:
      "The rebuild was cancelled, its process ended, or the table was changed meanwhile. The table is as it was.",
  },
  no_rebuild: { status: 404, meaning: "The source's table was never rebuilt." },
  no_such_view: { status: 404, meaning: "No saved view has this id, or it is another person's own." },
  bad_title: { status: 400, meaning: "The title is empty or too long." },
  bad_query: { status: 400, meaning: "The query is too long, or the rows of this object refuse it." },
  too_many_views: { status: 409, meaning: "This person or token has saved as many views as allowed." },
  not_your_view: { status: 403, meaning: "Only the person who saved the view, or an owner, can remove it." },
  no_such_follower: { status: 404, meaning: "No follower of a client has this id." },
  bad_start: {
    status: 400,
    meaning: "The start is neither `beginning` nor `now`, a time, or a cursor with the follower's source and channel.",
  },
  no_such_event: { status: 404, meaning: "No such event exists, or it belongs to another source." },
  too_many_events: { status: 400, meaning: "The request names more events than allowed." },
  not_reread: { status: 409, meaning: "None of the events can be read again; the message says why." },
  no_such_import: { status: 404, meaning: "No import has this id." },
  import_running: { status: 409, meaning: "The import is not at its end." },
  import_not_recorded: {
    status: 409,
    meaning: "An earlier version accepted the import without recording which events it made.",
  },
  import_done: { status: 409, meaning: "The import is done, so it cannot be cancelled." },
  import_cancelled: { status: 409, meaning: "The import was cancelled while its file was read; nothing was imported." },
  bad_option: { status: 400, meaning: "An option of the import is invalid." },
  same_file: { status: 409, meaning: "The same file was imported into this source before." },
  unreadable: { status: 422, meaning: "The file cannot be read." },
  interrupted: { status: 503, meaning: "The server could not store or read the file in time; nothing was imported." },
} as const satisfies Record<Exclude<ManageCode, ErrorCode>, Placed>

const OF_THE_READ_API = Object.fromEntries(
  Object.entries(ERROR_MEANINGS).map(([code, meaning]) => [code, { status: ERROR_STATUS[code as ErrorCode], meaning }]),
) as unknown as Record<ErrorCode, Placed>

export const MANAGE_CODES: Readonly<Record<ManageCode, Placed>> = { ...OF_THE_READ_API, ...OWN }

/** The error types that a client distinguishes: the read API's six, and `forbidden`. */
const TYPES = {
  400: "invalid_request",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  405: "invalid_request",
  409: "conflict",
  413: "invalid_request",
  415: "invalid_request",
  422: "invalid_request",
  429: "rate_limited",
  500: "unavailable",
  503: "unavailable",
} as const satisfies Record<Placed["status"], string>

export const manageType = (code: ManageCode): (typeof TYPES)[keyof typeof TYPES] => TYPES[MANAGE_CODES[code].status]

export const MANAGE_TYPES: ReadonlyArray<string> = [...new Set(Object.values(TYPES))]
