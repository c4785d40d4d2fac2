/** The error codes of the management API. */
import type { AddressError } from "@data-cabinet/core/delivery/AddressError"
import type { ErrorCode } from "@data-cabinet/core/error/ErrorCode"
import type { RereadError } from "@data-cabinet/core/intake/RereadError"
import type { FileError } from "@data-cabinet/core/file/FileError"
import type { IdempotencyError } from "@data-cabinet/core/idempotency/Idempotency"
import type { KeyError } from "@data-cabinet/core/key/KeyError"
import type { PersonError, SignInError } from "@data-cabinet/core/person/PersonError"
import type { RebuildError } from "@data-cabinet/core/row/RebuildError"
import type { ColumnError } from "@data-cabinet/core/row/ColumnError"
import type { SourceError } from "@data-cabinet/core/source/SourceError"
import type { SchemaGrantError } from "@data-cabinet/core/row/SchemaGrants"
import type { SearchIndexError } from "@data-cabinet/core/row/SearchIndex"
import type { ReportLoginError } from "@data-cabinet/core/row/ReportLogin"
import type { ColumnIndexError } from "@data-cabinet/core/row/ColumnIndexes"
import type { LatestViewError } from "@data-cabinet/core/row/LatestViews"
import type { TrashError } from "@data-cabinet/core/event/Trash"
import type { InboxError } from "@data-cabinet/core/inbox/Inbox"
import type { SavedViewError } from "@data-cabinet/core/view/SavedViews"
import type { LateVerificationError } from "@data-cabinet/core/event/LateVerification"
import type { DestinationError } from "@data-cabinet/core/destination/DestinationError"
import type { FollowerError } from "@data-cabinet/core/follower/Followers"
import type { PollError } from "@data-cabinet/core/poll/PollError"

/** The refusals of the frame itself. */
type FrameCode =
  | "unauthorized"
  | "cross_origin"
  | "role_missing"
  | "bad_id"
  | "bad_param"
  | "unsupported_media_type"
  | "too_large"
  | "bad_json"
  | "bad_body"
  | "unknown_field"
  | "bad_idempotency_key"
  | "unavailable"

export type ManageCode =
  | FrameCode
  | ErrorCode
  | AddressError["code"]
  | ColumnError["code"]
  | ColumnIndexError["code"]
  | DestinationError["code"]
  | FileError["code"]
  | FollowerError["code"]
  | IdempotencyError["code"]
  | InboxError["code"]
  | KeyError["code"]
  | LatestViewError["code"]
  | LateVerificationError["code"]
  | PersonError["code"]
  | PollError["code"]
  | RebuildError["code"]
  | ReportLoginError["code"]
  | RereadError["code"]
  | SavedViewError["code"]
  | SchemaGrantError["code"]
  | SearchIndexError["code"]
  | SignInError["code"]
  | SourceError["code"]
  | TrashError["code"]
