/**
 * The operations of the management API, written from its own description by test/flow/client.test.ts (`vitest run -u`). Not
 * to be edited.
 */
export type ActivityStep = { readonly at: string; readonly events: number; readonly repeats: number; readonly empty: number; readonly history: number }
export type Address = { readonly id: number; readonly url: string; readonly sources: "all" | ReadonlyArray<number>; readonly filters: ReadonlyArray<{ readonly fc: string; readonly fo: "eq" | "ne" | "gt" | "ge" | "lt" | "le" | "contains" | "empty" | "notempty"; readonly fv: string }>; readonly filtered_events: number; readonly header_names: ReadonlyArray<string>; readonly client_certificate: { readonly subject: string; readonly issuer: string; readonly fingerprint: string; readonly ends_at: string } | null; readonly rate: number | null; readonly timeout_seconds: number | null; readonly give_up_after_seconds: number | null; readonly pause_on_gone: boolean; readonly order: "none" | "feed"; readonly batch: { readonly max: number; readonly wait: number }; readonly body: { readonly kind: "standard" | "cloudevents" | "cloudevents-binary" | "slack" | "teams" | "discord" | "telegram" | "form" | "template"; readonly template: string | null; readonly method: "POST" | "PUT" | "PATCH"; readonly content_type: string | null }; readonly subscription: { readonly id: string; readonly agent: string; readonly event: string; readonly ends_at: string } | null; readonly created_at: string; readonly paused_at: string | null; readonly paused_because: "failing" | "gone" | null; readonly failing_since: string | null; readonly position: { readonly event_id: number | null; readonly behind_seconds: number; readonly waits_at: number | null; readonly failures: number; readonly error: string | null; readonly retry_at: string | null } | null }
export type AddressTest = { readonly address_id: number; readonly event_id: number; readonly passes: boolean; readonly reasons: ReadonlyArray<{ readonly code: "source" | "repeat" | "empty" | "history" | "unverified" | "spam" | "about_it" | "deleted" | "older" | "condition"; readonly message: string }>; readonly conditions: ReadonlyArray<{ readonly fc: string; readonly fo: "eq" | "ne" | "gt" | "ge" | "lt" | "le" | "contains" | "empty" | "notempty"; readonly fv: string; readonly holds: boolean; readonly value: string | null }>; readonly delivery_id: number | null }
export type AddressWithSecret = { readonly id: number; readonly url: string; readonly secret: string; readonly sources: "all" | ReadonlyArray<number>; readonly filters: ReadonlyArray<{ readonly fc: string; readonly fo: "eq" | "ne" | "gt" | "ge" | "lt" | "le" | "contains" | "empty" | "notempty"; readonly fv: string }>; readonly filtered_events: number; readonly header_names: ReadonlyArray<string>; readonly client_certificate: { readonly subject: string; readonly issuer: string; readonly fingerprint: string; readonly ends_at: string } | null; readonly rate: number | null; readonly timeout_seconds: number | null; readonly give_up_after_seconds: number | null; readonly pause_on_gone: boolean; readonly order: "none" | "feed"; readonly batch: { readonly max: number; readonly wait: number }; readonly body: { readonly kind: "standard" | "cloudevents" | "cloudevents-binary" | "slack" | "teams" | "discord" | "telegram" | "form" | "template"; readonly template: string | null; readonly method: "POST" | "PUT" | "PATCH"; readonly content_type: string | null }; readonly previous_secret: { readonly secret: string; readonly until: string } | null; readonly subscription: { readonly id: string; readonly agent: string; readonly event: string; readonly ends_at: string } | null; readonly created_at: string; readonly paused_at: string | null; readonly paused_because: "failing" | "gone" | null; readonly failing_since: string | null; readonly position: { readonly event_id: number | null; readonly behind_seconds: number; readonly waits_at: number | null; readonly failures: number; readonly error: string | null; readonly retry_at: string | null } | null }
export type ApplyTurn = { readonly taken: boolean }
export type Attempt = { readonly delivery_id: number; readonly type: "event.received" | "ping"; readonly event_id: number | null; readonly address_id: number; readonly number: number; readonly at: string; readonly delivered: boolean; readonly status: number | null; readonly failure: string | null; readonly peer: string | null; readonly duration_ms: number; readonly timing: Timing | null; readonly response_body: string | null; readonly next_at: string | null; readonly events: number; readonly reason: string | null }
export type AuditEntry = { readonly id: number; readonly at: string; readonly actor: { readonly kind: "person" | "token" | "cli" | "program"; readonly id: number | null; readonly name: string }; readonly role: "owner" | "editor" | "viewer" | "uploader" | "reader"; readonly client: string | null; readonly request_id: string | null; readonly action: string; readonly object: string | null; readonly changes: Readonly<Record<string, unknown>>; readonly ended_at: string | null; readonly outcome: string | null }
export type AuthorSchema = { readonly name: string; readonly author: string }
export type BodyPreview = { readonly event_id: number | null; readonly event: string | null; readonly template: string | null; readonly method: "POST" | "PUT" | "PATCH"; readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>; readonly body: string }
export type Cabinet = { readonly version: string; readonly base_url: string; readonly base_url_known: boolean; readonly time_zone: string }
export type ColdFile = { readonly name: string; readonly events: number; readonly bytes: number; readonly from: string; readonly to: string; readonly emptied: boolean }
export type ColdStatus = { readonly location: string | null; readonly files: ReadonlyArray<ColdFile>; readonly events: number; readonly bytes: number; readonly worked_at: string | null; readonly failures: number; readonly error: string | null }
export type Column = { readonly name: string; readonly type: string; readonly label: string; readonly comment: string | null }
export type ColumnIndex = { readonly name: string; readonly columns: ReadonlyArray<string>; readonly method: "btree" | "hash"; readonly valid: boolean; readonly bytes: number; readonly scans: number; readonly progress: number | null }
export type ColumnIndexState = { readonly table: string; readonly index: string; readonly columns: ReadonlyArray<string>; readonly method: "btree" | "hash"; readonly built: boolean }
export type Count = { readonly count: number }
export type DeliveryState = { readonly id: number; readonly type: "event.received" | "ping"; readonly address_id: number; readonly event_id: number | null; readonly state: "due" | "delivered" | "failed" | "cancelled"; readonly attempts: number; readonly created_at: string; readonly due_at: string | null; readonly last_attempt: LastAttempt | null }
export type DeliveryWithLog = { readonly id: number; readonly type: "event.received" | "ping"; readonly address_id: number; readonly event_id: number | null; readonly state: "due" | "delivered" | "failed" | "cancelled"; readonly attempts: number; readonly created_at: string; readonly due_at: string | null; readonly last_attempt: LastAttempt | null; readonly log: ReadonlyArray<Attempt> }
export type Destination = { readonly id: number; readonly location: string; readonly endpoint: string | null; readonly region: string | null; readonly url_style: "path" | "virtual-host" | null; readonly has_credentials: boolean; readonly format: "ndjson" | "parquet"; readonly sources: ReadonlyArray<number> | null; readonly tag: string; readonly created_at: string; readonly paused: boolean; readonly event_id: number | null; readonly moved_at: string | null; readonly behind: number; readonly behind_seconds: number; readonly failures: number; readonly error: string | null; readonly retry_at: string | null }
export type Diagnostics = { readonly findings: ReadonlyArray<{ readonly check: string; readonly level: "ok" | "warn" | "bad"; readonly message: string }>; readonly database: Readonly<Record<string, unknown>>; readonly deliveries: Readonly<Record<string, unknown>> }
export type Erasure = { readonly events: number; readonly repeats: number; readonly rows: number; readonly originals: number; readonly deliveries: number; readonly next_after: number | null }
export type Event = { readonly id: number; readonly source: { readonly id: number; readonly name: string }; readonly channel: "webhook" | "file" | "pull"; readonly received_at: string; readonly payload: Readonly<Record<string, unknown>>; readonly repeat_of: number | null; readonly history: boolean; readonly deleted_at: string | null; readonly verified?: boolean; readonly spam?: boolean }
export type EventPage = { readonly data: ReadonlyArray<Event>; readonly has_more: boolean; readonly next_cursor: string }
export type EventWithContext = { readonly event: Event; readonly original: OriginalRequest | null; readonly row: Row | null; readonly row_waits: boolean; readonly row_set_aside: string | null; readonly spam: "honeypot" | "origin" | "no_proof" | "wrong_proof" | "used_proof" | "unchecked_proof" | null; readonly deliveries: ReadonlyArray<DeliveryState> }
export type Facets = { readonly column: string; readonly data: ReadonlyArray<{ readonly value: unknown; readonly count: number }>; readonly others: number; readonly rows: number; readonly exact: boolean }
export type FeedStart = { readonly cursor: string }
export type Follower = { readonly id: number; readonly kind: string; readonly name: string; readonly event_id: number | null; readonly moved_at: string | null; readonly behind: number; readonly behind_seconds: number; readonly failures: number; readonly error: string | null; readonly retry_at: string | null; readonly paused: boolean; readonly holder: string | null; readonly key: string | null; readonly source_id: number | null; readonly channel: "webhook" | "file" | "pull" | null }
export type Import = { readonly id: number; readonly source_id: number; readonly file: string; readonly state: "staging" | "accepting" | "done" | "failed"; readonly bytes: number; readonly rows: number; readonly accepted: number; readonly refused: number; readonly failure: string | null; readonly created_at: string; readonly finished_at: string | null; readonly cancelled_at: string | null; readonly doubts: ReadonlyArray<{ readonly kind: "encoding_unclear" | "mark_ignored" | "delimiter_unclear" | "delimiter_tied" | "spaces_in_cells" | "no_rows" | "sheets_skipped" | "titles_skipped" | "headers_skipped" | "totals_row" | "short_rows" | "values_replaced"; readonly count: number; readonly places: ReadonlyArray<{ readonly line: number; readonly column: number | null }>; readonly message: string }>; readonly undo: { readonly state: "undoing" | "undone"; readonly position: number; readonly events: number; readonly columns: ReadonlyArray<string>; readonly kept: ReadonlyArray<{ readonly column: string; readonly reason: string }>; readonly started_at: string; readonly finished_at: string | null } | null }
export type InboxMessage = { readonly event_id: number; readonly received_at: string; readonly read: boolean; readonly done: boolean; readonly name: string | null; readonly email: string | null; readonly subject: string | null; readonly message: string | null }
export type InvitedPerson = { readonly id: number; readonly name: string; readonly role: "owner" | "editor" | "viewer"; readonly issuer: "proxy" | "program" | "oidc" | null; readonly has_password: boolean; readonly created_at: string; readonly signed_in_at: string | null; readonly link_expires_at: string; readonly removed_at: string | null; readonly link: string }
export type IssuedKey = { readonly id: number; readonly name: string; readonly prefix: string; readonly created_at: string; readonly expires_at: string | null; readonly revoked_at: string | null; readonly last_request_at: string | null; readonly key: string }
export type IssuedReportLogin = { readonly role: string; readonly active: boolean; readonly url: string; readonly sessions: number; readonly max_sessions: number; readonly beyond: ReadonlyArray<{ readonly right: string; readonly remedy: string }>; readonly password: string }
export type IssuedToken = { readonly id: number; readonly name: string; readonly role: "owner" | "editor" | "viewer" | "uploader" | "reader"; readonly only: ReadonlyArray<string> | null; readonly prefix: string; readonly created_at: string; readonly expires_at: string | null; readonly revoked_at: string | null; readonly last_used_at: string | null; readonly token: string }
export type Key = { readonly id: number; readonly name: string; readonly prefix: string; readonly created_at: string; readonly expires_at: string | null; readonly revoked_at: string | null; readonly last_request_at: string | null }
export type LastAttempt = { readonly at: string; readonly number: number; readonly outcome: "delivered" | "refused" | "error" | "no_answer"; readonly status: number | null; readonly failure: string | null; readonly duration_ms: number; readonly said: string; readonly reason: string | null }
export type LatePage = { readonly verdicts: ReadonlyArray<{ readonly id: number; readonly outcome: "verified" | "was_verified" | "refused" | "unchecked"; readonly reason: "no_signature" | "bad_signature" | "old_timestamp" | "no_original" | "source_off" | "no_recipe" | "plain_secret" | "cut_body" | "encoded_body" | "no_kept_signature" | "no_kept_query" | null }>; readonly deliveries: number; readonly seen: number; readonly next_cursor: string | null }
export type LateVerdicts = { readonly verdicts: ReadonlyArray<{ readonly id: number; readonly outcome: "verified" | "was_verified" | "refused" | "unchecked"; readonly reason: "no_signature" | "bad_signature" | "old_timestamp" | "no_original" | "source_off" | "no_recipe" | "plain_secret" | "cut_body" | "encoded_body" | "no_kept_signature" | "no_kept_query" | null }>; readonly deliveries: number }
export type LatestView = { readonly view: string; readonly created: boolean; readonly sql: string }
export type ListedEvent = { readonly id: number; readonly source: { readonly id: number; readonly name: string }; readonly channel: "webhook" | "file" | "pull"; readonly received_at: string; readonly payload: Readonly<Record<string, unknown>>; readonly repeat_of: number | null; readonly history: boolean; readonly deleted_at: string | null; readonly verified?: boolean; readonly spam?: boolean; readonly state: "row" | "repeat" | "spam" | "trashed" | "purged"; readonly spam_reason: "honeypot" | "origin" | "no_proof" | "wrong_proof" | "used_proof" | "unchecked_proof" | null; readonly empty: boolean; readonly row_waits: boolean; readonly trashed_by: { readonly kind: "person" | "token" | "cli" | "program"; readonly id: number | null; readonly name: string } | null; readonly deliveries: { readonly due: number; readonly delivered: number; readonly failed: number; readonly cancelled: number } }
export type NoticeState = { readonly on: boolean; readonly since: string | null; readonly source: { readonly id: number; readonly name: string; readonly table: { readonly schema: string; readonly name: string } | null } | null; readonly addresses: ReadonlyArray<number>; readonly latest: ReadonlyArray<{ readonly event_id: number; readonly at: string; readonly kind: string; readonly subject: string; readonly message: string }> }
export type OriginalRequest = { readonly received_at: string; readonly body: string | null; readonly body_base64: string | null; readonly body_bytes: number; readonly truncated: boolean; readonly content_type: string | null; readonly ip: string | null; readonly headers: { readonly referer: string | null; readonly origin: string | null; readonly user_agent: string | null; readonly accept_language: string | null }; readonly kept_headers: ReadonlyArray<{ readonly name: string; readonly value: string }>; readonly query: string | null; readonly verification: { readonly recipe: "stripe" | "github" | "shopify" | "woocommerce" | "slack" | "standard-webhooks" | "svix" | "gitlab" | "twilio" | "paddle" | "square" | "zoom" | "mailgun" | "basic" | "bearer" | "hmac" | "token" | "sns"; readonly verified: boolean; readonly reason: "no_signature" | "bad_signature" | "old_timestamp" | null } | null; readonly late_verification: { readonly recipe: "stripe" | "github" | "shopify" | "woocommerce" | "slack" | "standard-webhooks" | "svix" | "gitlab" | "twilio" | "paddle" | "square" | "zoom" | "mailgun" | "basic" | "bearer" | "hmac" | "token" | "sns"; readonly verified: boolean; readonly reason: "no_signature" | "bad_signature" | "old_timestamp" | null; readonly at: string; readonly delivered_at: string | null } | null; readonly encoding: { readonly name: string; readonly decided_by: string; readonly replaced: number; readonly others: ReadonlyArray<{ readonly name: string; readonly decided_by: string; readonly place: "body" | "query" | "file_name"; readonly fields: ReadonlyArray<string>; readonly more: number }> } }
export type Overview = { readonly hours: ReadonlyArray<{ readonly at: string; readonly events: number; readonly repeats: number; readonly empty: number; readonly history: number }>; readonly sources: ReadonlyArray<{ readonly source_id: number; readonly last_at: string | null; readonly last_event_id: number | null; readonly days: ReadonlyArray<number>; readonly silence: { readonly since: string; readonly seconds: number; readonly active_days: number; readonly usual_seconds: number | null } | null; readonly quiet: boolean }>; readonly delivery_hours: ReadonlyArray<{ readonly at: string; readonly delivered: number; readonly failed: number; readonly p50_millis: number | null; readonly p95_millis: number | null }>; readonly deliveries: { readonly delivered: number; readonly failed: number; readonly p50_millis: number | null; readonly p95_millis: number | null }; readonly waiting: ReadonlyArray<{ readonly address_id: number; readonly waiting: number; readonly oldest: string | null }>; readonly counted_until: string | null }
export type OwnSource = { readonly id: number; readonly name: string; readonly archived: boolean; readonly table: { readonly schema: string; readonly name: string } | null; readonly created_at: string; readonly encoding: "utf-8" | "windows-1251" | "latin-1" | null; readonly thanks_url: string | null; readonly keep_headers: ReadonlyArray<string>; readonly header_fields: ReadonlyArray<string>; readonly keep_query: boolean; readonly nest_brackets: boolean; readonly honeypot: string | null; readonly allow_origins: ReadonlyArray<string>; readonly schema: string | null; readonly inbox: "on" | "off" | null; readonly inbox_name: string | null; readonly inbox_email: string | null; readonly inbox_subject: string | null; readonly inbox_message: string | null; readonly verify: { readonly recipe: "stripe" | "github" | "shopify" | "woocommerce" | "slack" | "standard-webhooks" | "svix" | "gitlab" | "twilio" | "paddle" | "square" | "zoom" | "mailgun" | "basic" | "bearer" | "hmac" | "token" | "sns"; readonly mode: "reject" | "mark"; readonly header?: string; readonly query?: string; readonly field?: string; readonly hmac: { readonly header: string | null; readonly algorithm: "sha1" | "sha256" | "sha512"; readonly encoding: "hex" | "base64"; readonly prefix: string; readonly timestamp_header: string | null; readonly tolerance_seconds: number; readonly field?: string; readonly value?: string; readonly signed?: string; readonly timestamp_field?: string; readonly id_header?: string } | null; readonly keeps_old_secret: boolean } | null; readonly challenge: { readonly provider: "meta" | "x" | "graph" | "dropbox" } | null; readonly proof: { readonly kind: "altcha" | "turnstile" | "hcaptcha"; readonly site_key: string | null } | null; readonly rate: number | null; readonly old_secret_until: string | null; readonly limited: { readonly count: number; readonly since: string; readonly last_at: string } | null }
export type Person = { readonly id: number; readonly name: string; readonly role: "owner" | "editor" | "viewer"; readonly issuer: "proxy" | "program" | "oidc" | null; readonly has_password: boolean; readonly created_at: string; readonly signed_in_at: string | null; readonly link_expires_at: string | null; readonly removed_at: string | null }
export type PingResult = { readonly delivery_id: number; readonly delivered: boolean; readonly status: number | null; readonly failure: string | null; readonly peer: string | null; readonly duration_ms: number; readonly timing: Timing | null; readonly response_body: string | null }
export type Poll = { readonly id: number; readonly source_id: number; readonly url: string; readonly every_seconds: number; readonly format: "json" | "ndjson" | "csv" | null; readonly pointer: string; readonly key_field: string | null; readonly header_names: ReadonlyArray<string>; readonly created_at: string; readonly paused: boolean; readonly due_at: string | null; readonly failures: number; readonly first_at: string | null }
export type PollRun = { readonly id: number; readonly poll_id: number; readonly at: string; readonly duration_ms: number; readonly outcome: "read" | "unchanged" | "failed"; readonly status: number | null; readonly failure: string | null; readonly peer: string | null; readonly bytes: number; readonly items: number; readonly fresh: number; readonly import_id: number | null; readonly doubts: ReadonlyArray<{ readonly kind: "encoding_unclear" | "mark_ignored" | "delimiter_unclear" | "delimiter_tied" | "spaces_in_cells" | "no_rows" | "sheets_skipped" | "titles_skipped" | "headers_skipped" | "totals_row" | "short_rows" | "values_replaced"; readonly count: number; readonly places: ReadonlyArray<{ readonly line: number; readonly column: number | null }>; readonly message: string }>; readonly next_at: string | null }
export type PollTrial = { readonly status: number | null; readonly failure: string | null; readonly peer: string | null; readonly duration_ms: number; readonly bytes: number; readonly content_type: string | null; readonly etag: string | null; readonly last_modified: string | null; readonly format: "csv" | "tsv" | "json" | "ndjson" | "xlsx" | "ods" | "html" | null; readonly encoding: string | null; readonly pointer: string; readonly key_field: string | null; readonly items: number; readonly fresh: number; readonly doubts: ReadonlyArray<{ readonly kind: "encoding_unclear" | "mark_ignored" | "delimiter_unclear" | "delimiter_tied" | "spaces_in_cells" | "no_rows" | "sheets_skipped" | "titles_skipped" | "headers_skipped" | "totals_row" | "short_rows" | "values_replaced"; readonly count: number; readonly places: ReadonlyArray<{ readonly line: number; readonly column: number | null }>; readonly message: string }>; readonly history: boolean; readonly preview: ReadonlyArray<{ readonly payload: string; readonly whole: boolean; readonly key: string | null; readonly fresh: boolean }>; readonly beginning: string | null }
export type ReadableSchema = { readonly name: string }
export type Rebuild = { readonly source_id: number; readonly state: "running" | "done" | "failed" | "cancelled"; readonly step: "plan" | "rows" | "indexes" | "changes" | "swap"; readonly done: number; readonly rows: number; readonly code: string | null; readonly message: string | null; readonly result: RebuildResult | null; readonly started_at: string; readonly finished_at: string | null }
export type RebuildCancelled = { readonly source_id: number; readonly cancelled: boolean }
export type RebuildPreview = { readonly table: string; readonly rows: number; readonly rows_without_event: number; readonly columns: ReadonlyArray<{ readonly name: string; readonly was: string; readonly type: "numeric" | "text" | "boolean" | "jsonb" | "date" | "timestamptz"; readonly type_was: "numeric" | "text" | "boolean" | "jsonb" | "date" | "timestamptz"; readonly carried: boolean }>; readonly dropped: ReadonlyArray<string>; readonly views: ReadonlyArray<string>; readonly indexes: ReadonlyArray<string>; readonly indexes_later: ReadonlyArray<string>; readonly in_the_way: ReadonlyArray<string> }
export type RebuildResult = { readonly table: string; readonly rows: number; readonly columns: ReadonlyArray<string>; readonly locked_millis: number; readonly indexes_missing: ReadonlyArray<string> }
export type ReportLogin = { readonly role: string; readonly active: boolean; readonly url: string | null; readonly sessions: number; readonly max_sessions: number; readonly beyond: ReadonlyArray<{ readonly right: string; readonly remedy: string }> }
export type RereadPage = { readonly verdicts: ReadonlyArray<{ readonly id: number; readonly outcome: "changed" | "unchanged" | "refused"; readonly reason: "in_trash" | "no_original" | "cut_body" | "encoded_body" | "not_a_form" | "no_text" | "unexplained" | null; readonly replaced: number }>; readonly example: { readonly event: number; readonly values: ReadonlyArray<{ readonly field: string; readonly field_before: string | null; readonly before: string; readonly after: string }>; readonly more: number } | null; readonly deliveries: number; readonly seen: number; readonly next_cursor: string | null }
export type RereadVerdicts = { readonly verdicts: ReadonlyArray<{ readonly id: number; readonly outcome: "changed" | "unchanged" | "refused"; readonly reason: "in_trash" | "no_original" | "cut_body" | "encoded_body" | "not_a_form" | "no_text" | "unexplained" | null; readonly replaced: number }>; readonly example: { readonly event: number; readonly values: ReadonlyArray<{ readonly field: string; readonly field_before: string | null; readonly before: string; readonly after: string }>; readonly more: number } | null; readonly deliveries: number }
export type RetypeResult = { readonly name: string; readonly field: string; readonly label: string; readonly type: "numeric" | "text" | "boolean" | "jsonb" | "date" | "timestamptz"; readonly event_id: number | null; readonly created_at: string; readonly moved: number; readonly sibling: string | null; readonly views: ReadonlyArray<string> }
export type RetypeTrial = { readonly misfits: number | null; readonly examples: ReadonlyArray<{ readonly event_id: number; readonly value: string }>; readonly sibling: string | null; readonly views: ReadonlyArray<string> }
export type Row = Readonly<Record<string, unknown>>
export type RowCount = { readonly count: number; readonly at_least: boolean }
export type RowPage = { readonly data: ReadonlyArray<Row>; readonly has_more: boolean; readonly next_cursor: string | null; readonly columns: ReadonlyArray<Column> }
export type RowsSummary = { readonly rows: number; readonly column: string; readonly filled: number; readonly sum: unknown; readonly average: unknown; readonly least: unknown; readonly greatest: unknown; readonly values: Facets }
export type SavedView = { readonly id: number; readonly title: string; readonly schema: string; readonly name: string; readonly query: string; readonly shared: boolean; readonly maker: { readonly kind: "person" | "token" | "cli" | "program"; readonly id: number | null; readonly name: string }; readonly created_at: string }
export type SearchIndex = { readonly name: string; readonly valid: boolean; readonly complete: boolean; readonly bytes: number; readonly scans: number; readonly progress: number | null }
export type SearchIndexState = { readonly table: string; readonly index: string; readonly built: boolean }
export type Self = { readonly kind: "token" | "person"; readonly id: number; readonly name: string; readonly role: "owner" | "editor" | "viewer" | "uploader" | "reader"; readonly session: Session | null }
export type Session = { readonly id: number; readonly person: { readonly id: number; readonly name: string }; readonly method: "link" | "password" | "oidc"; readonly created_at: string; readonly last_seen_at: string; readonly expires_at: string; readonly client: string | null; readonly user_agent: string | null }
export type SourceColumn = { readonly name: string; readonly field: string; readonly label: string; readonly type: "numeric" | "text" | "boolean" | "jsonb" | "date" | "timestamptz"; readonly event_id: number | null; readonly created_at: string }
export type SourceShape = { readonly source_id: number; readonly events: number; readonly first_at: string | null; readonly last_at: string | null; readonly complete: boolean; readonly fields: ReadonlyArray<{ readonly path: string; readonly count: number; readonly share: number | null; readonly kinds: ReadonlyArray<{ readonly kind: "boolean" | "integer" | "number" | "string" | "array" | "object" | "null"; readonly count: number; readonly first_at: string; readonly last_at: string }>; readonly first_at: string; readonly last_at: string; readonly change: "new" | "kind_changed" | "missing" | null }> }
export type SourceWithAddress = { readonly id: number; readonly name: string; readonly intake_url: string; readonly intake_path: string; readonly table: { readonly schema: string; readonly name: string } | null; readonly rows_url: string | null; readonly base_url_known: boolean; readonly archived: boolean; readonly created_at: string; readonly encoding: "utf-8" | "windows-1251" | "latin-1" | null; readonly thanks_url: string | null; readonly keep_headers: ReadonlyArray<string>; readonly header_fields: ReadonlyArray<string>; readonly keep_query: boolean; readonly nest_brackets: boolean; readonly honeypot: string | null; readonly allow_origins: ReadonlyArray<string>; readonly schema: string | null; readonly inbox: "on" | "off" | null; readonly inbox_name: string | null; readonly inbox_email: string | null; readonly inbox_subject: string | null; readonly inbox_message: string | null; readonly verify: { readonly recipe: "stripe" | "github" | "shopify" | "woocommerce" | "slack" | "standard-webhooks" | "svix" | "gitlab" | "twilio" | "paddle" | "square" | "zoom" | "mailgun" | "basic" | "bearer" | "hmac" | "token" | "sns"; readonly mode: "reject" | "mark"; readonly header?: string; readonly query?: string; readonly field?: string; readonly hmac: { readonly header: string | null; readonly algorithm: "sha1" | "sha256" | "sha512"; readonly encoding: "hex" | "base64"; readonly prefix: string; readonly timestamp_header: string | null; readonly tolerance_seconds: number; readonly field?: string; readonly value?: string; readonly signed?: string; readonly timestamp_field?: string; readonly id_header?: string } | null; readonly keeps_old_secret: boolean } | null; readonly challenge: { readonly provider: "meta" | "x" | "graph" | "dropbox" } | null; readonly proof: { readonly kind: "altcha" | "turnstile" | "hcaptcha"; readonly site_key: string | null } | null; readonly rate: number | null; readonly old_secret_until: string | null; readonly limited: { readonly count: number; readonly since: string; readonly last_at: string } | null }
export type Table = { readonly schema: string; readonly name: string; readonly kind: "table" | "view" | "matview"; readonly source: { readonly id: number; readonly name: string } | null; readonly comment: string | null; readonly rows_estimate: number | null }
export type TableDetail = { readonly schema: string; readonly name: string; readonly kind: "table" | "view" | "matview"; readonly source: { readonly id: number; readonly name: string } | null; readonly comment: string | null; readonly rows_estimate: number | null; readonly columns: ReadonlyArray<Column>; readonly key: ReadonlyArray<string>; readonly definition: string | null }
export type TestEvent = { readonly id: number; readonly duplicate: boolean; readonly empty: boolean }
export type Timing = { readonly name_ms: number | null; readonly connect_ms: number | null; readonly tls_ms: number | null; readonly wait_ms: number | null; readonly body_ms: number | null }
export type Token = { readonly id: number; readonly name: string; readonly role: "owner" | "editor" | "viewer" | "uploader" | "reader"; readonly only: ReadonlyArray<string> | null; readonly prefix: string; readonly created_at: string; readonly expires_at: string | null; readonly revoked_at: string | null; readonly last_used_at: string | null }
export type UndoPreview = { readonly import_id: number; readonly events: number; readonly in_trash: number; readonly rows: number; readonly columns: ReadonlyArray<string>; readonly kept: ReadonlyArray<{ readonly column: string; readonly reason: string }>; readonly deliveries: number }

/** The parameters and the result of each operation. */
export interface Operations {
  /** Who is asking. */
  readonly getSelf: { readonly input: {  }; readonly output: Self }
  /** The cabinet. */
  readonly getCabinet: { readonly input: {  }; readonly output: Cabinet }
  /** All sources. */
  readonly listSources: { readonly input: { readonly query?: { readonly limit?: number; readonly after?: number } }; readonly output: { readonly data: ReadonlyArray<OwnSource>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** Create a source. */
  readonly addSource: { readonly input: { readonly body: { readonly name: string; readonly encoding?: "utf-8" | "windows-1251" | "latin-1" | null; readonly thanks_url?: string | null; readonly keep_headers?: ReadonlyArray<string>; readonly header_fields?: ReadonlyArray<string>; readonly keep_query?: boolean; readonly nest_brackets?: boolean; readonly rate?: number | null; readonly honeypot?: string | null; readonly allow_origins?: ReadonlyArray<string>; readonly schema?: string | null; readonly inbox?: "on" | "off" | null; readonly inbox_name?: string | null; readonly inbox_email?: string | null; readonly inbox_subject?: string | null; readonly inbox_message?: string | null; readonly from?: "github" | "gitlab" | "bitbucket" | "stripe" | "shopify" | "woocommerce" | "slack" | "twilio" | "paddle" | "square" | "zoom" | "mailgun" | "linear" | "typeform" | "sentry" | "sns" | "svix"; readonly verify?: { readonly recipe?: "stripe" | "github" | "shopify" | "woocommerce" | "slack" | "standard-webhooks" | "svix" | "gitlab" | "twilio" | "paddle" | "square" | "zoom" | "mailgun" | "basic" | "bearer" | "hmac" | "token" | "sns"; readonly mode?: "reject" | "mark"; readonly secret?: string; readonly keep_old_secret?: boolean; readonly header?: string; readonly query?: string; readonly field?: string; readonly hmac?: { readonly header?: string | null; readonly field?: string | null; readonly value?: string | null; readonly signed?: string | null; readonly timestamp_field?: string | null; readonly id_header?: string | null; readonly algorithm?: "sha1" | "sha256" | "sha512"; readonly encoding?: "hex" | "base64"; readonly prefix?: string; readonly timestamp_header?: string | null; readonly tolerance_seconds?: number } } | null; readonly challenge?: { readonly provider: "meta" | "x" | "graph" | "dropbox"; readonly secret?: string } | null; readonly proof?: { readonly kind: "altcha" | "turnstile" | "hcaptcha"; readonly site_key?: string | null; readonly secret?: string } | null } }; readonly output: SourceWithAddress }
  /** One source. */
  readonly getSource: { readonly input: { readonly path: { readonly id: number } }; readonly output: OwnSource }
  /** Change a source. */
  readonly changeSource: { readonly input: { readonly path: { readonly id: number }; readonly body: { readonly name?: string; readonly encoding?: "utf-8" | "windows-1251" | "latin-1" | null; readonly thanks_url?: string | null; readonly keep_headers?: ReadonlyArray<string>; readonly header_fields?: ReadonlyArray<string>; readonly keep_query?: boolean; readonly nest_brackets?: boolean; readonly rate?: number | null; readonly honeypot?: string | null; readonly allow_origins?: ReadonlyArray<string>; readonly schema?: string | null; readonly inbox?: "on" | "off" | null; readonly inbox_name?: string | null; readonly inbox_email?: string | null; readonly inbox_subject?: string | null; readonly inbox_message?: string | null; readonly from?: "github" | "gitlab" | "bitbucket" | "stripe" | "shopify" | "woocommerce" | "slack" | "twilio" | "paddle" | "square" | "zoom" | "mailgun" | "linear" | "typeform" | "sentry" | "sns" | "svix"; readonly verify?: { readonly recipe?: "stripe" | "github" | "shopify" | "woocommerce" | "slack" | "standard-webhooks" | "svix" | "gitlab" | "twilio" | "paddle" | "square" | "zoom" | "mailgun" | "basic" | "bearer" | "hmac" | "token" | "sns"; readonly mode?: "reject" | "mark"; readonly secret?: string; readonly keep_old_secret?: boolean; readonly header?: string; readonly query?: string; readonly field?: string; readonly hmac?: { readonly header?: string | null; readonly field?: string | null; readonly value?: string | null; readonly signed?: string | null; readonly timestamp_field?: string | null; readonly id_header?: string | null; readonly algorithm?: "sha1" | "sha256" | "sha512"; readonly encoding?: "hex" | "base64"; readonly prefix?: string; readonly timestamp_header?: string | null; readonly tolerance_seconds?: number } } | null; readonly challenge?: { readonly provider: "meta" | "x" | "graph" | "dropbox"; readonly secret?: string } | null; readonly proof?: { readonly kind: "altcha" | "turnstile" | "hcaptcha"; readonly site_key?: string | null; readonly secret?: string } | null; readonly archived?: boolean } }; readonly output: OwnSource }
  /** Delete a source. */
  readonly deleteSource: { readonly input: { readonly path: { readonly id: number }; readonly query: { readonly table: "keep" | "drop" } }; readonly output: undefined }
  /** Show an intake address. */
  readonly revealSource: { readonly input: { readonly path: { readonly id: number } }; readonly output: SourceWithAddress }
  /** A new intake address. */
  readonly rotateSourceSecret: { readonly input: { readonly path: { readonly id: number }; readonly query?: { readonly keep_old_seconds?: number } }; readonly output: SourceWithAddress }
  /** Send a test event. */
  readonly sendTestEvent: { readonly input: { readonly path: { readonly id: number }; readonly body: { readonly fields: Readonly<Record<string, unknown>> } }; readonly output: TestEvent }
  /** The columns of a source's table. */
  readonly listColumns: { readonly input: { readonly path: { readonly id: number } }; readonly output: { readonly data: ReadonlyArray<SourceColumn>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** Change a column. */
  readonly changeColumn: { readonly input: { readonly path: { readonly id: number; readonly column: string }; readonly body: { readonly label?: string; readonly type?: "numeric" | "text" | "boolean" | "jsonb" | "date" | "timestamptz"; readonly numbers?: "comma" | "dot"; readonly dates?: "dmy" | "mdy" | "ymd"; readonly with_views?: boolean } }; readonly output: RetypeResult }
  /** Drop a column without a value. */
  readonly dropColumn: { readonly input: { readonly path: { readonly id: number; readonly column: string } }; readonly output: SourceColumn }
  /** Try a change of a column's type. */
  readonly tryRetype: { readonly input: { readonly path: { readonly id: number; readonly column: string }; readonly query: { readonly type: "numeric" | "text" | "boolean" | "jsonb" | "date" | "timestamptz"; readonly numbers?: "comma" | "dot"; readonly dates?: "dmy" | "mdy" | "ymd" } }; readonly output: RetypeTrial }
  /** The latest rebuild of a source's table. */
  readonly getTableRebuild: { readonly input: { readonly path: { readonly id: number } }; readonly output: Rebuild }
  /** Rebuild a source's table. */
  readonly startTableRebuild: { readonly input: { readonly path: { readonly id: number }; readonly body: { readonly columns?: ReadonlyArray<{ readonly column: string; readonly type?: "numeric" | "text" | "boolean" | "jsonb" | "date" | "timestamptz"; readonly name?: string }>; readonly without_empty?: boolean; readonly nest_brackets?: boolean } }; readonly output: Rebuild }
  /** What a rebuild of a table would do. */
  readonly tryTableRebuild: { readonly input: { readonly path: { readonly id: number }; readonly body: { readonly columns?: ReadonlyArray<{ readonly column: string; readonly type?: "numeric" | "text" | "boolean" | "jsonb" | "date" | "timestamptz"; readonly name?: string }>; readonly without_empty?: boolean; readonly nest_brackets?: boolean } }; readonly output: RebuildPreview }
  /** Cancel a rebuild. */
  readonly cancelTableRebuild: { readonly input: { readonly path: { readonly id: number } }; readonly output: RebuildCancelled }
  /** The event feed. */
  readonly readFeed: { readonly input: { readonly query?: { readonly wait?: number; readonly source_id?: number; readonly channel?: "webhook" | "file" | "pull"; readonly limit?: number; readonly cursor?: string } }; readonly output: EventPage }
  /** Where to begin in the feed. */
  readonly findFeedStart: { readonly input: { readonly query?: { readonly source_id?: number; readonly channel?: "webhook" | "file" | "pull"; readonly from?: string; readonly last?: number } }; readonly output: FeedStart }
  /** Events, newest first. */
  readonly listEvents: { readonly input: { readonly query?: { readonly limit?: number; readonly cursor?: string; readonly source_id?: number; readonly channel?: "webhook" | "file" | "pull"; readonly state?: "row" | "repeat" | "empty" | "history" | "unverified" | "invalid" | "spam" | "trashed" | "purged"; readonly event?: number; readonly text?: string; readonly from?: string; readonly to?: string } }; readonly output: { readonly data: ReadonlyArray<ListedEvent>; readonly has_more: boolean; readonly next_cursor: string | null; readonly searched_to: string | null } }
  /** One event. */
  readonly getEvent: { readonly input: { readonly path: { readonly id: number } }; readonly output: EventWithContext }
  /** Move events to the trash. */
  readonly trashEvents: { readonly input: { readonly body: { readonly source_id: number; readonly events: ReadonlyArray<number> } }; readonly output: Count }
  /** Restore events from the trash, or from spam. */
  readonly restoreEvents: { readonly input: { readonly body: { readonly source_id: number; readonly events: ReadonlyArray<number> } }; readonly output: Count }
  /** Erase events permanently. */
  readonly purgeEvents: { readonly input: { readonly body: { readonly events: ReadonlyArray<number> } }; readonly output: Count }
  /** The messages of a form, newest first. */
  readonly listMessages: { readonly input: { readonly path: { readonly id: number }; readonly query?: { readonly limit?: number; readonly cursor?: string; readonly mark?: "open" | "unread" | "done"; readonly text?: string } }; readonly output: { readonly data: ReadonlyArray<InboxMessage>; readonly has_more: boolean; readonly next_cursor: string | null; readonly searched_to: string | null } }
  /** One message. */
  readonly getMessage: { readonly input: { readonly path: { readonly id: number; readonly event: number } }; readonly output: InboxMessage }
  /** Mark messages as read or done. */
  readonly markMessages: { readonly input: { readonly path: { readonly id: number }; readonly body: { readonly events: ReadonlyArray<number>; readonly read?: boolean; readonly done?: boolean } }; readonly output: Count }
  /** Erase a person's data. */
  readonly eraseEvents: { readonly input: { readonly body: { readonly filters: ReadonlyArray<{ readonly fc: string; readonly fo: "eq" | "ne" | "gt" | "ge" | "lt" | "le" | "contains" | "empty" | "notempty"; readonly fv: string }>; readonly source_id?: number; readonly dry_run: boolean; readonly after?: number } }; readonly output: Erasure }
  /** Verify the sender of stored events. */
  readonly verifyEvents: { readonly input: { readonly body: { readonly events: ReadonlyArray<number>; readonly deliver?: boolean } }; readonly output: LateVerdicts }
  /** Verify the sender of a source's stored events. */
  readonly verifySourceEvents: { readonly input: { readonly path: { readonly id: number }; readonly body: { readonly deliver?: boolean; readonly dry_run?: boolean; readonly limit?: number; readonly cursor?: string } }; readonly output: LatePage }
  /** Read stored events again in another charset. */
  readonly rereadEvents: { readonly input: { readonly body: { readonly events: ReadonlyArray<number>; readonly encoding: string; readonly all_values?: boolean; readonly deliver?: boolean; readonly dry_run?: boolean } }; readonly output: RereadVerdicts }
  /** Read a source's stored events again in another charset. */
  readonly rereadSourceEvents: { readonly input: { readonly path: { readonly id: number }; readonly body: { readonly encoding: string; readonly all_values?: boolean; readonly deliver?: boolean; readonly dry_run?: boolean; readonly limit?: number; readonly cursor?: string } }; readonly output: RereadPage }
  /** The cabinet's activity. */
  readonly getOverview: { readonly input: {  }; readonly output: Overview }
  /** Events by hours or days. */
  readonly listActivity: { readonly input: { readonly query?: { readonly step?: "hour" | "day"; readonly source_id?: number; readonly from?: string; readonly to?: string } }; readonly output: { readonly data: ReadonlyArray<ActivityStep>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** The fields that a source sends. */
  readonly getSourceShape: { readonly input: { readonly path: { readonly id: number } }; readonly output: SourceShape }
  /** JSON Schema of what a source sends. */
  readonly getSourceSchema: { readonly input: { readonly path: { readonly id: number } }; readonly output: Readonly<Record<string, unknown>> }
  /** AsyncAPI document of what the cabinet sends. */
  readonly getAsyncApi: { readonly input: {  }; readonly output: Readonly<Record<string, unknown>> }
  /** Notices of the cabinet. */
  readonly getNotices: { readonly input: {  }; readonly output: NoticeState }
  /** Switch notices on or off. */
  readonly setNotices: { readonly input: { readonly body: { readonly on: boolean } }; readonly output: NoticeState }
  /** All readable tables and views. */
  readonly listTables: { readonly input: {  }; readonly output: { readonly data: ReadonlyArray<Table>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** One table or view. */
  readonly getTable: { readonly input: { readonly path: { readonly schema: string; readonly name: string } }; readonly output: TableDetail }
  /** Rows of a table or view. */
  readonly listRows: { readonly input: { readonly path: { readonly schema: string; readonly name: string }; readonly query?: { readonly q?: string; readonly fc?: ReadonlyArray<string>; readonly fo?: ReadonlyArray<"eq" | "ne" | "gt" | "ge" | "lt" | "le" | "contains" | "empty" | "notempty">; readonly fv?: ReadonlyArray<string>; readonly fj?: ReadonlyArray<"and" | "or">; readonly per?: string; readonly from?: string; readonly to?: string; readonly sort?: string | ReadonlyArray<string>; readonly dir?: "asc" | "desc" | ReadonlyArray<"asc" | "desc">; readonly col?: ReadonlyArray<string>; readonly order?: ReadonlyArray<string>; readonly hide?: ReadonlyArray<string>; readonly limit?: number; readonly cursor?: string } }; readonly output: RowPage }
  /** How many rows. */
  readonly countRows: { readonly input: { readonly path: { readonly schema: string; readonly name: string }; readonly query?: { readonly q?: string; readonly fc?: ReadonlyArray<string>; readonly fo?: ReadonlyArray<"eq" | "ne" | "gt" | "ge" | "lt" | "le" | "contains" | "empty" | "notempty">; readonly fv?: ReadonlyArray<string>; readonly fj?: ReadonlyArray<"and" | "or">; readonly per?: string; readonly from?: string; readonly to?: string } }; readonly output: RowCount }
  /** The values of a column. */
  readonly listFacets: { readonly input: { readonly path: { readonly schema: string; readonly name: string }; readonly query: { readonly column: string; readonly q?: string; readonly fc?: ReadonlyArray<string>; readonly fo?: ReadonlyArray<"eq" | "ne" | "gt" | "ge" | "lt" | "le" | "contains" | "empty" | "notempty">; readonly fv?: ReadonlyArray<string>; readonly fj?: ReadonlyArray<"and" | "or">; readonly per?: string; readonly from?: string; readonly to?: string } }; readonly output: Facets }
  /** Rows in numbers. */
  readonly summarizeRows: { readonly input: { readonly path: { readonly schema: string; readonly name: string }; readonly query?: { readonly column?: string; readonly q?: string; readonly fc?: ReadonlyArray<string>; readonly fo?: ReadonlyArray<"eq" | "ne" | "gt" | "ge" | "lt" | "le" | "contains" | "empty" | "notempty">; readonly fv?: ReadonlyArray<string>; readonly fj?: ReadonlyArray<"and" | "or">; readonly per?: string; readonly from?: string; readonly to?: string } }; readonly output: RowsSummary }
  /** The saved views. */
  readonly listViews: { readonly input: {  }; readonly output: { readonly data: ReadonlyArray<SavedView>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** Save a view. */
  readonly saveView: { readonly input: { readonly body: { readonly title: string; readonly schema: string; readonly name: string; readonly query: string; readonly shared?: boolean } }; readonly output: SavedView }
  /** Remove a saved view. */
  readonly removeView: { readonly input: { readonly path: { readonly id: number } }; readonly output: undefined }
  /** The keys of the read API. */
  readonly listKeys: { readonly input: { readonly query?: { readonly limit?: number; readonly after?: number } }; readonly output: { readonly data: ReadonlyArray<Key>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** Issue a key. */
  readonly issueKey: { readonly input: { readonly body: { readonly name: string; readonly expires_in_seconds?: number | null } }; readonly output: IssuedKey }
  /** Replace a key. */
  readonly rotateKey: { readonly input: { readonly path: { readonly id: number }; readonly query?: { readonly keep_old_seconds?: number } }; readonly output: IssuedKey }
  /** Revoke a key. */
  readonly revokeKey: { readonly input: { readonly path: { readonly id: number } }; readonly output: Key }
  /** The access tokens. */
  readonly listTokens: { readonly input: { readonly query?: { readonly limit?: number; readonly after?: number } }; readonly output: { readonly data: ReadonlyArray<Token>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** Issue an access token. */
  readonly issueToken: { readonly input: { readonly body: { readonly name: string; readonly role: "owner" | "editor" | "viewer" | "uploader" | "reader"; readonly only?: ReadonlyArray<string> | null; readonly expires_in_seconds?: number | null } }; readonly output: IssuedToken }
  /** Revoke an access token. */
  readonly revokeToken: { readonly input: { readonly path: { readonly id: number } }; readonly output: Token }
  /** All people. */
  readonly listPeople: { readonly input: { readonly query?: { readonly limit?: number; readonly after?: number } }; readonly output: { readonly data: ReadonlyArray<Person>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** Invite a person. */
  readonly invitePerson: { readonly input: { readonly body: { readonly name: string; readonly role: "owner" | "editor" | "viewer" } }; readonly output: InvitedPerson }
  /** Change a person's name or role. */
  readonly changePerson: { readonly input: { readonly path: { readonly id: number }; readonly body: { readonly name?: string; readonly role?: "owner" | "editor" | "viewer" } }; readonly output: Person }
  /** Remove a person. */
  readonly removePerson: { readonly input: { readonly path: { readonly id: number } }; readonly output: undefined }
  /** A new one-time link for a person. */
  readonly linkPerson: { readonly input: { readonly path: { readonly id: number } }; readonly output: InvitedPerson }
  /** Sign a person out everywhere. */
  readonly signOutPerson: { readonly input: { readonly path: { readonly id: number } }; readonly output: Count }
  /** Active sessions. */
  readonly listSessions: { readonly input: { readonly query?: { readonly limit?: number; readonly before?: number } }; readonly output: { readonly data: ReadonlyArray<Session>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** End a session. */
  readonly endSession: { readonly input: { readonly path: { readonly id: number } }; readonly output: undefined }
  /** Sign out everywhere. */
  readonly signOutEverywhere: { readonly input: {  }; readonly output: Count }
  /** Set your own password. */
  readonly setPassword: { readonly input: { readonly body: { readonly password: string; readonly current?: string } }; readonly output: undefined }
  /** Delivery addresses. */
  readonly listAddresses: { readonly input: { readonly query?: { readonly limit?: number; readonly after?: number; readonly failing?: boolean } }; readonly output: { readonly data: ReadonlyArray<Address>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** Add a delivery address. */
  readonly addAddress: { readonly input: { readonly body: { readonly url: string; readonly sources?: "all" | ReadonlyArray<number>; readonly filters?: ReadonlyArray<{ readonly fc: string; readonly fo: "eq" | "ne" | "gt" | "ge" | "lt" | "le" | "contains" | "empty" | "notempty"; readonly fv: string }>; readonly headers?: ReadonlyArray<{ readonly name: string; readonly value: string }>; readonly client_identity?: { readonly certificate: string; readonly key: string } | null; readonly rate?: number | null; readonly timeout_seconds?: number | null; readonly give_up_after_seconds?: number | null; readonly pause_on_gone?: boolean; readonly order?: "none" | "feed"; readonly batch?: { readonly max: number; readonly wait: number }; readonly body?: { readonly kind: "standard" | "cloudevents" | "cloudevents-binary" | "slack" | "teams" | "discord" | "telegram" | "form" | "template"; readonly template?: string | null; readonly method?: "POST" | "PUT" | "PATCH"; readonly content_type?: string | null } } }; readonly output: AddressWithSecret }
  /** One delivery address. */
  readonly getAddress: { readonly input: { readonly path: { readonly id: number } }; readonly output: Address }
  /** Change a delivery address. */
  readonly changeAddress: { readonly input: { readonly path: { readonly id: number }; readonly body: { readonly url?: string; readonly sources?: "all" | ReadonlyArray<number>; readonly filters?: ReadonlyArray<{ readonly fc: string; readonly fo: "eq" | "ne" | "gt" | "ge" | "lt" | "le" | "contains" | "empty" | "notempty"; readonly fv: string }>; readonly headers?: ReadonlyArray<{ readonly name: string; readonly value: string }>; readonly client_identity?: { readonly certificate: string; readonly key: string } | null; readonly rate?: number | null; readonly timeout_seconds?: number | null; readonly give_up_after_seconds?: number | null; readonly pause_on_gone?: boolean; readonly order?: "none" | "feed"; readonly batch?: { readonly max: number; readonly wait: number }; readonly body?: { readonly kind: "standard" | "cloudevents" | "cloudevents-binary" | "slack" | "teams" | "discord" | "telegram" | "form" | "template"; readonly template?: string | null; readonly method?: "POST" | "PUT" | "PATCH"; readonly content_type?: string | null }; readonly set_headers?: ReadonlyArray<{ readonly name: string; readonly value: string }>; readonly remove_headers?: ReadonlyArray<string> } }; readonly output: Address }
  /** Remove a delivery address. */
  readonly removeAddress: { readonly input: { readonly path: { readonly id: number } }; readonly output: undefined }
  /** Show a signing secret. */
  readonly revealAddress: { readonly input: { readonly path: { readonly id: number } }; readonly output: AddressWithSecret }
  /** A new signing secret. */
  readonly rotateAddressSecret: { readonly input: { readonly path: { readonly id: number } }; readonly output: AddressWithSecret }
  /** Pause a delivery address. */
  readonly pauseAddress: { readonly input: { readonly path: { readonly id: number } }; readonly output: Address }
  /** Resume a delivery address. */
  readonly resumeAddress: { readonly input: { readonly path: { readonly id: number } }; readonly output: Address }
  /** Skip the event at which an address waits. */
  readonly skipEvent: { readonly input: { readonly path: { readonly id: number }; readonly body: { readonly event_id: number; readonly reason: string } }; readonly output: Address }
  /** Check a delivery address. */
  readonly pingAddress: { readonly input: { readonly path: { readonly id: number } }; readonly output: PingResult }
  /** What an address would be sent. */
  readonly previewDelivery: { readonly input: { readonly path: { readonly id: number }; readonly body: { readonly event_id?: number; readonly body?: { readonly kind: "standard" | "cloudevents" | "cloudevents-binary" | "slack" | "teams" | "discord" | "telegram" | "form" | "template"; readonly template?: string | null; readonly method?: "POST" | "PUT" | "PATCH"; readonly content_type?: string | null } } }; readonly output: BodyPreview }
  /** Whether an address would receive an event. */
  readonly testAddress: { readonly input: { readonly path: { readonly id: number; readonly event_id: number } }; readonly output: AddressTest }
  /** The attempts of a delivery address. */
  readonly listAttempts: { readonly input: { readonly path: { readonly id: number }; readonly query?: { readonly limit?: number; readonly before?: string; readonly failed?: boolean } }; readonly output: { readonly data: ReadonlyArray<Attempt>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** Resend a range. */
  readonly resendRange: { readonly input: { readonly path: { readonly id: number }; readonly body: { readonly from: string; readonly to: string; readonly only?: "all" | "failed"; readonly dry_run?: boolean } }; readonly output: Count }
  /** Deliveries, by their last attempts, newest first. */
  readonly listDeliveries: { readonly input: { readonly query?: { readonly limit?: number; readonly before?: string; readonly address_id?: number; readonly event_id?: number; readonly source_id?: number; readonly state?: "due" | "delivered" | "failed" | "cancelled"; readonly outcome?: "delivered" | "refused" | "error" | "no_answer"; readonly type?: "event.received" | "ping"; readonly retrying?: boolean; readonly from?: string; readonly to?: string } }; readonly output: { readonly data: ReadonlyArray<DeliveryState>; readonly has_more: boolean; readonly next_cursor: string | null; readonly searched_to: string | null } }
  /** Send all deliveries of a list again. */
  readonly resendDeliveries: { readonly input: { readonly body: { readonly address_id?: number; readonly event_id?: number; readonly source_id?: number; readonly state?: "due" | "delivered" | "failed" | "cancelled"; readonly outcome?: "delivered" | "refused" | "error" | "no_answer"; readonly type?: "event.received" | "ping"; readonly retrying?: boolean; readonly from?: string; readonly to?: string; readonly all?: boolean; readonly dry_run?: boolean } }; readonly output: Count }
  /** One delivery. */
  readonly getDelivery: { readonly input: { readonly path: { readonly id: number } }; readonly output: DeliveryWithLog }
  /** Send a delivery again. */
  readonly resendDelivery: { readonly input: { readonly path: { readonly id: number } }; readonly output: DeliveryState }
  /** Stop a delivery. */
  readonly cancelDelivery: { readonly input: { readonly path: { readonly id: number } }; readonly output: DeliveryState }
  /** Imports. */
  readonly listImports: { readonly input: { readonly query?: { readonly limit?: number } }; readonly output: { readonly data: ReadonlyArray<Import>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** One import. */
  readonly getImport: { readonly input: { readonly path: { readonly id: number } }; readonly output: Import }
  /** Cancel an import. */
  readonly cancelImport: { readonly input: { readonly path: { readonly id: number } }; readonly output: Import }
  /** What undoing an import would do. */
  readonly tryUndoImport: { readonly input: { readonly path: { readonly id: number } }; readonly output: UndoPreview }
  /** Undo an import. */
  readonly undoImport: { readonly input: { readonly path: { readonly id: number } }; readonly output: Import }
  /** All polls. */
  readonly listPolls: { readonly input: { readonly query?: { readonly limit?: number; readonly after?: number } }; readonly output: { readonly data: ReadonlyArray<Poll>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** Add a poll. */
  readonly addPoll: { readonly input: { readonly body: { readonly source_id: number; readonly url: string; readonly every_seconds?: number; readonly format?: "json" | "ndjson" | "csv" | null; readonly pointer?: string; readonly key_field?: string | null; readonly headers?: ReadonlyArray<{ readonly name: string; readonly value: string }> } }; readonly output: Poll }
  /** Try a poll that is not added. */
  readonly tryNewPoll: { readonly input: { readonly body: { readonly source_id: number; readonly url: string; readonly every_seconds?: number; readonly format?: "json" | "ndjson" | "csv" | null; readonly pointer?: string; readonly key_field?: string | null; readonly headers?: ReadonlyArray<{ readonly name: string; readonly value: string }> } }; readonly output: PollTrial }
  /** Try a poll. */
  readonly tryPoll: { readonly input: { readonly path: { readonly id: number }; readonly body: { readonly url?: string; readonly every_seconds?: number; readonly format?: "json" | "ndjson" | "csv" | null; readonly pointer?: string; readonly key_field?: string | null; readonly headers?: ReadonlyArray<{ readonly name: string; readonly value: string }> } }; readonly output: PollTrial }
  /** One poll. */
  readonly getPoll: { readonly input: { readonly path: { readonly id: number } }; readonly output: Poll }
  /** Change a poll. */
  readonly changePoll: { readonly input: { readonly path: { readonly id: number }; readonly body: { readonly url?: string; readonly every_seconds?: number; readonly format?: "json" | "ndjson" | "csv" | null; readonly pointer?: string; readonly key_field?: string | null; readonly headers?: ReadonlyArray<{ readonly name: string; readonly value: string }> } }; readonly output: Poll }
  /** Remove a poll. */
  readonly removePoll: { readonly input: { readonly path: { readonly id: number } }; readonly output: undefined }
  /** Pause a poll. */
  readonly pausePoll: { readonly input: { readonly path: { readonly id: number } }; readonly output: Poll }
  /** Resume a poll. */
  readonly resumePoll: { readonly input: { readonly path: { readonly id: number } }; readonly output: Poll }
  /** Run a poll now. */
  readonly runPoll: { readonly input: { readonly path: { readonly id: number } }; readonly output: PollRun }
  /** The runs of a poll. */
  readonly listPollRuns: { readonly input: { readonly path: { readonly id: number }; readonly query?: { readonly limit?: number } }; readonly output: { readonly data: ReadonlyArray<PollRun>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** All destinations. */
  readonly listDestinations: { readonly input: {  }; readonly output: { readonly data: ReadonlyArray<Destination>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** Add a destination. */
  readonly addDestination: { readonly input: { readonly body: { readonly location: string; readonly format?: "ndjson" | "parquet"; readonly sources?: ReadonlyArray<number> | null; readonly from?: "beginning" | "now"; readonly endpoint?: string | null; readonly region?: string | null; readonly url_style?: "path" | "virtual-host" | null; readonly credentials?: { readonly access_key_id?: string; readonly secret_access_key?: string; readonly session_token?: string | null; readonly user?: string; readonly password?: string; readonly token?: string; readonly seed?: string; readonly jwt?: string | null } | null } }; readonly output: Destination }
  /** One destination. */
  readonly getDestination: { readonly input: { readonly path: { readonly id: number } }; readonly output: Destination }
  /** Change how a bucket or a broker is reached. */
  readonly changeDestination: { readonly input: { readonly path: { readonly id: number }; readonly body: { readonly endpoint?: string | null; readonly region?: string | null; readonly url_style?: "path" | "virtual-host" | null; readonly credentials?: { readonly access_key_id?: string; readonly secret_access_key?: string; readonly session_token?: string | null; readonly user?: string; readonly password?: string; readonly token?: string; readonly seed?: string; readonly jwt?: string | null } } }; readonly output: Destination }
  /** Remove a destination. */
  readonly removeDestination: { readonly input: { readonly path: { readonly id: number } }; readonly output: undefined }
  /** Send from the beginning. */
  readonly restartDestination: { readonly input: { readonly path: { readonly id: number } }; readonly output: Destination }
  /** Pause a destination. */
  readonly pauseDestination: { readonly input: { readonly path: { readonly id: number } }; readonly output: Destination }
  /** Resume a destination. */
  readonly resumeDestination: { readonly input: { readonly path: { readonly id: number } }; readonly output: Destination }
  /** The exposed schemas. */
  readonly listSchemas: { readonly input: {  }; readonly output: { readonly data: ReadonlyArray<ReadableSchema>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** Expose a schema to readers. */
  readonly exposeSchema: { readonly input: { readonly path: { readonly schema: string } }; readonly output: Count }
  /** Hide a schema from readers. */
  readonly hideSchema: { readonly input: { readonly path: { readonly schema: string } }; readonly output: Count }
  /** Create a schema for the author. */
  readonly addSchema: { readonly input: { readonly path: { readonly schema: string } }; readonly output: AuthorSchema }
  /** The state of the database. */
  readonly getDiagnostics: { readonly input: {  }; readonly output: Diagnostics }
  /** Old events in files. */
  readonly getColdHistory: { readonly input: {  }; readonly output: ColdStatus }
  /** The work behind the feed. */
  readonly listFollowers: { readonly input: {  }; readonly output: { readonly data: ReadonlyArray<Follower>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** Set a client's position. */
  readonly resetFollower: { readonly input: { readonly path: { readonly id: number }; readonly body: { readonly to: string } }; readonly output: undefined }
  /** Forget a client's position. */
  readonly removeFollower: { readonly input: { readonly path: { readonly id: number } }; readonly output: undefined }
  /** The login for reports. */
  readonly getReportLogin: { readonly input: {  }; readonly output: ReportLogin }
  /** Give the login for reports a new password. */
  readonly issueReportLogin: { readonly input: {  }; readonly output: IssuedReportLogin }
  /** Revoke the login for reports. */
  readonly revokeReportLogin: { readonly input: {  }; readonly output: ReportLogin }
  /** The indexes of a table's columns. */
  readonly listIndexes: { readonly input: { readonly path: { readonly schema: string; readonly name: string } }; readonly output: { readonly data: ReadonlyArray<ColumnIndex>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** Build an index of columns. */
  readonly buildIndex: { readonly input: { readonly path: { readonly schema: string; readonly name: string }; readonly body: { readonly columns: ReadonlyArray<string> } }; readonly output: ColumnIndexState }
  /** Drop an index of columns. */
  readonly dropIndex: { readonly input: { readonly path: { readonly schema: string; readonly name: string; readonly index: string } }; readonly output: ColumnIndex }
  /** The search index of a table. */
  readonly listSearchIndexes: { readonly input: { readonly path: { readonly schema: string; readonly name: string } }; readonly output: { readonly data: ReadonlyArray<SearchIndex>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** Build a search index. */
  readonly buildSearchIndex: { readonly input: { readonly path: { readonly schema: string; readonly name: string } }; readonly output: SearchIndexState }
  /** Drop the search index. */
  readonly dropSearchIndex: { readonly input: { readonly path: { readonly schema: string; readonly name: string } }; readonly output: Count }
  /** Create a view of the latest row by key. */
  readonly createLatestView: { readonly input: { readonly path: { readonly schema: string; readonly name: string }; readonly body: { readonly keys: ReadonlyArray<string>; readonly by?: string; readonly view?: string; readonly replace?: boolean; readonly dry_run?: boolean } }; readonly output: LatestView }
  /** The audit log. */
  readonly listAudit: { readonly input: { readonly query?: { readonly limit?: number; readonly before?: number; readonly action?: string; readonly object?: string; readonly who?: string } }; readonly output: { readonly data: ReadonlyArray<AuditEntry>; readonly has_more: boolean; readonly next_cursor: string | null } }
  /** Take the turn to apply a file. */
  readonly takeApplyTurn: { readonly input: { readonly body: { readonly holder: string } }; readonly output: ApplyTurn }
  /** End the turn. */
  readonly endApplyTurn: { readonly input: { readonly body: { readonly holder: string } }; readonly output: undefined }
  /** This description. */
  readonly describeManagement: { readonly input: {  }; readonly output: Readonly<Record<string, unknown>> }
}

/** Their methods and paths, without what all of them begin with. */
export const OPERATIONS = {
  getSelf: "GET me",
  getCabinet: "GET cabinet",
  listSources: "GET sources",
  addSource: "POST sources",
  getSource: "GET sources/{id}",
  changeSource: "PATCH sources/{id}",
  deleteSource: "DELETE sources/{id}",
  revealSource: "POST sources/{id}/reveal",
  rotateSourceSecret: "POST sources/{id}/rotate-secret",
  sendTestEvent: "POST sources/{id}/test-event",
  listColumns: "GET sources/{id}/columns",
  changeColumn: "PATCH sources/{id}/columns/{column}",
  dropColumn: "DELETE sources/{id}/columns/{column}",
  tryRetype: "GET sources/{id}/columns/{column}/retype",
  getTableRebuild: "GET sources/{id}/rebuild",
  startTableRebuild: "POST sources/{id}/rebuild",
  tryTableRebuild: "POST sources/{id}/rebuild/preview",
  cancelTableRebuild: "POST sources/{id}/rebuild/cancel",
  readFeed: "GET feed",
  findFeedStart: "GET feed/start",
  listEvents: "GET events",
  getEvent: "GET events/{id}",
  trashEvents: "POST events/trash",
  restoreEvents: "POST events/restore",
  purgeEvents: "POST events/purge",
  listMessages: "GET sources/{id}/inbox",
  getMessage: "GET sources/{id}/inbox/{event}",
  markMessages: "POST sources/{id}/inbox/marks",
  eraseEvents: "POST events/erase",
  verifyEvents: "POST events/verify",
  verifySourceEvents: "POST sources/{id}/verify",
  rereadEvents: "POST events/reread",
  rereadSourceEvents: "POST sources/{id}/reread",
  getOverview: "GET overview",
  listActivity: "GET activity",
  getSourceShape: "GET sources/{id}/shape",
  getSourceSchema: "GET sources/{id}/schema",
  getAsyncApi: "GET asyncapi",
  getNotices: "GET notices",
  setNotices: "PUT notices",
  listTables: "GET tables",
  getTable: "GET tables/{schema}/{name}",
  listRows: "GET tables/{schema}/{name}/rows",
  countRows: "GET tables/{schema}/{name}/count",
  listFacets: "GET tables/{schema}/{name}/facets",
  summarizeRows: "GET tables/{schema}/{name}/summary",
  listViews: "GET views",
  saveView: "POST views",
  removeView: "DELETE views/{id}",
  listKeys: "GET keys",
  issueKey: "POST keys",
  rotateKey: "POST keys/{id}/rotate",
  revokeKey: "POST keys/{id}/revoke",
  listTokens: "GET tokens",
  issueToken: "POST tokens",
  revokeToken: "POST tokens/{id}/revoke",
  listPeople: "GET people",
  invitePerson: "POST people",
  changePerson: "PATCH people/{id}",
  removePerson: "DELETE people/{id}",
  linkPerson: "POST people/{id}/link",
  signOutPerson: "POST people/{id}/sign-out",
  listSessions: "GET sessions",
  endSession: "DELETE sessions/{id}",
  signOutEverywhere: "POST me/sign-out",
  setPassword: "POST me/password",
  listAddresses: "GET addresses",
  addAddress: "POST addresses",
  getAddress: "GET addresses/{id}",
  changeAddress: "PATCH addresses/{id}",
  removeAddress: "DELETE addresses/{id}",
  revealAddress: "POST addresses/{id}/reveal",
  rotateAddressSecret: "POST addresses/{id}/rotate-secret",
  pauseAddress: "POST addresses/{id}/pause",
  resumeAddress: "POST addresses/{id}/resume",
  skipEvent: "POST addresses/{id}/skip",
  pingAddress: "POST addresses/{id}/ping",
  previewDelivery: "POST addresses/{id}/preview",
  testAddress: "GET addresses/{id}/events/{event_id}",
  listAttempts: "GET addresses/{id}/attempts",
  resendRange: "POST addresses/{id}/resend",
  listDeliveries: "GET deliveries",
  resendDeliveries: "POST deliveries/resend",
  getDelivery: "GET deliveries/{id}",
  resendDelivery: "POST deliveries/{id}/resend",
  cancelDelivery: "POST deliveries/{id}/cancel",
  listImports: "GET imports",
  getImport: "GET imports/{id}",
  cancelImport: "POST imports/{id}/cancel",
  tryUndoImport: "GET imports/{id}/undo",
  undoImport: "POST imports/{id}/undo",
  listPolls: "GET polls",
  addPoll: "POST polls",
  tryNewPoll: "POST polls/try",
  tryPoll: "POST polls/{id}/try",
  getPoll: "GET polls/{id}",
  changePoll: "PATCH polls/{id}",
  removePoll: "DELETE polls/{id}",
  pausePoll: "POST polls/{id}/pause",
  resumePoll: "POST polls/{id}/resume",
  runPoll: "POST polls/{id}/run",
  listPollRuns: "GET polls/{id}/runs",
  listDestinations: "GET destinations",
  addDestination: "POST destinations",
  getDestination: "GET destinations/{id}",
  changeDestination: "PATCH destinations/{id}",
  removeDestination: "DELETE destinations/{id}",
  restartDestination: "POST destinations/{id}/restart",
  pauseDestination: "POST destinations/{id}/pause",
  resumeDestination: "POST destinations/{id}/resume",
  listSchemas: "GET schemas",
  exposeSchema: "POST schemas/{schema}/expose",
  hideSchema: "POST schemas/{schema}/hide",
  addSchema: "POST schemas/{schema}",
  getDiagnostics: "GET diagnostics",
  getColdHistory: "GET cold",
  listFollowers: "GET followers",
  resetFollower: "POST followers/{id}/reset",
  removeFollower: "DELETE followers/{id}",
  getReportLogin: "GET report-login",
  issueReportLogin: "POST report-login",
  revokeReportLogin: "DELETE report-login",
  listIndexes: "GET tables/{schema}/{name}/indexes",
  buildIndex: "PUT tables/{schema}/{name}/indexes",
  dropIndex: "DELETE tables/{schema}/{name}/indexes/{index}",
  listSearchIndexes: "GET tables/{schema}/{name}/search-index",
  buildSearchIndex: "PUT tables/{schema}/{name}/search-index",
  dropSearchIndex: "DELETE tables/{schema}/{name}/search-index",
  createLatestView: "POST tables/{schema}/{name}/latest-view",
  listAudit: "GET audit",
  takeApplyTurn: "POST apply-turn",
  endApplyTurn: "POST apply-turn/end",
  describeManagement: "GET openapi.json",
} as const satisfies Record<keyof Operations, string>
