/** The only error class of the library: a real `Error` with a `code` from a closed list and a readable message. */
import type { AddressError } from "@data-cabinet/core/delivery/AddressError"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { RereadError } from "@data-cabinet/core/intake/RereadError"
import type { FeedError } from "@data-cabinet/core/feed/FeedError"
import type { FileError } from "@data-cabinet/core/file/FileError"
import type { IntakeError } from "@data-cabinet/core/intake/IntakeError"
import type { KeyError } from "@data-cabinet/core/key/KeyError"
import type { RebuildError } from "@data-cabinet/core/row/RebuildError"
import type { ReadError } from "@data-cabinet/core/row/ReadError"
import type { ActivityError } from "@data-cabinet/core/activity/Activity"
import type { ColumnError } from "@data-cabinet/core/row/ColumnError"
import type { SelectionError } from "@data-cabinet/core/selection/SelectionError"
import type { SourceError } from "@data-cabinet/core/source/SourceError"
import type { ScriptError } from "@data-cabinet/store-pg/connection/AuthorSession"
import { Cause, Option } from "effect"
import type { StartError } from "../error/StartError.ts"
import type { CabinetErrorCode } from "./CabinetErrorCode.ts"
import type { SchemaGrantError } from "@data-cabinet/core/row/SchemaGrants"
import type { SearchIndexError } from "@data-cabinet/core/row/SearchIndex"
import type { ReportLoginError } from "@data-cabinet/core/row/ReportLogin"
import type { ColumnIndexError } from "@data-cabinet/core/row/ColumnIndexes"
import type { LatestViewError } from "@data-cabinet/core/row/LatestViews"
import type { TrashError } from "@data-cabinet/core/event/Trash"
import type { RegistryError } from "@data-cabinet/core/tenancy/CabinetRegistry"
import type { LateVerificationError } from "@data-cabinet/core/event/LateVerification"
import type { DestinationError } from "@data-cabinet/core/destination/DestinationError"
import type { PollError } from "@data-cabinet/core/poll/PollError"

type Coded =
  | AddressError
  | ActivityError
  | ColumnError
  | ColumnIndexError
  | RebuildError
  | ReportLoginError
  | SchemaGrantError
  | FeedError
  | FileError
  | IntakeError
  | KeyError
  | LatestViewError
  | LateVerificationError
  | RereadError
  | DestinationError
  | PollError
  | ReadError
  | RegistryError
  | SearchIndexError
  | SelectionError
  | SourceError
  | StartError
  | TrashError

/** Every error of our use cases; an error that is missing here does not compile. */
export type KnownError = Coded | ScriptError | StoreUnavailable

/** Compiles only if each listed code can occur. */
type Listed<Occurring, Codes extends Occurring = CabinetErrorCode & Occurring> =
  Exclude<CabinetErrorCode, Codes> extends never ? Codes : never

type OwnCode = "unavailable" | "closed" | "script_failed" | "internal_error"

interface Details {
  readonly param?: string | undefined
  readonly retryAfter?: number | undefined
  readonly outcomeUnknown?: boolean
  readonly cause?: unknown
}

/** Every call of a cabinet rejects with this class only. */
export class CabinetError extends Error {
  override readonly name = "CabinetError"
  /** From a closed list, for programs to branch on; the message is for people. */
  readonly code: CabinetErrorCode
  /** The parameter of `rows` or `feed` at fault, if there is one. */
  readonly param: string | undefined
  /** Seconds after which a retry is worthwhile, if known. */
  readonly retryAfter: number | undefined
  /** True if the connection was lost during a commit: the work may have been done. */
  readonly outcomeUnknown: boolean

  constructor(code: CabinetErrorCode, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.param = details.param
    this.retryAfter = details.retryAfter
    this.outcomeUnknown = details.outcomeUnknown === true
  }
}

const isKnown = (error: unknown): error is KnownError =>
  error instanceof Error &&
  "_tag" in error &&
  (error._tag === "StoreUnavailable" || "code" in error || "number" in error)

const fromKnown = (error: KnownError): CabinetError => {
  if (error._tag === "StoreUnavailable") {
    const { retryAfter, outcomeUnknown } = error
    return new CabinetError("unavailable", error.message, { retryAfter, outcomeUnknown })
  }
  if (error._tag === "ScriptError") return new CabinetError("script_failed", error.message)
  const param = "param" in error ? (error.param ?? undefined) : undefined
  const retryAfter = "retryAfter" in error && error.retryAfter !== 0 ? error.retryAfter : undefined
  const code: Listed<Coded["code"] | OwnCode> = error.code
  return new CabinetError(code, error.message, { param, retryAfter })
}

/** The error of every call after `close`. */
export const closed = (): CabinetError => new CabinetError("closed", "The cabinet is closed.")

/** The error with which a failed call rejects. Only closing interrupts a call. */
export const fromCause = (cause: Cause.Cause<unknown>): CabinetError => {
  const failure = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (isKnown(failure)) return fromKnown(failure)
  if (failure === undefined && Cause.hasInterruptsOnly(cause)) return closed()
  const fault = Cause.squash(cause)
  const words = fault instanceof Error ? fault.message : String(fault)
  return new CabinetError("internal_error", `Internal error: ${words}`, { cause: fault })
}
