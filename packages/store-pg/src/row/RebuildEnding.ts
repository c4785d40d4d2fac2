/**
 * How a rebuild ended that did not succeed, as its state says it.
 *
 * Decision: docs/decisions/0095-a-rebuild-says-how-far-it-is.md
 */
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { notRebuilt } from "@data-cabinet/core/row/NotRebuiltWords"
import type { RebuildState } from "@data-cabinet/core/row/RebuildState"
import { NotRebuilt } from "@data-cabinet/core/row/RebuildStore"
import { Cause, Option } from "effect"
import { SqlError } from "effect/sql"

/** Why a rebuild ended. */
export interface Ending {
  readonly state: "failed" | "cancelled"
  readonly code: string
  readonly message: string
}

/** How a rebuild ends for a reason that is no error of its own. */
export const endingOf = (sourceId: number, is: "cancelled" | "stopped" | "lost" | "fault"): Ending => {
  const { code, message } = notRebuilt(sourceId, new NotRebuilt({ fact: { is } }))
  return { state: is === "cancelled" ? "cancelled" : "failed", code, message }
}

type Failure = { readonly code: string; readonly message: string } | NotRebuilt | StoreUnavailable | SqlError.SqlError

/** How a rebuild ends that has failed. */
export const endingFor = (sourceId: number, cause: Cause.Cause<Failure>): Ending => {
  const error = Option.getOrNull(Cause.findErrorOption(cause))
  if (error === null) return endingOf(sourceId, Cause.hasDies(cause) ? "fault" : "stopped")
  if (SqlError.isSqlError(error)) return endingOf(sourceId, "fault")
  if (error instanceof StoreUnavailable) return endingOf(sourceId, "lost")
  if (error instanceof NotRebuilt && error.fact.is === "cancelled") return endingOf(sourceId, "cancelled")
  const { code, message } = error instanceof NotRebuilt ? notRebuilt(sourceId, error) : error
  return { state: "failed", code, message }
}

/** A state as it is stored. */
export interface StoredState extends RebuildState {
  /** Whether its process has the lease. */
  readonly held: boolean
}

/** A process that was lost has not stored that. */
export const stateOf = ({ held, ...state }: StoredState): RebuildState =>
  state.state === "running" && !held ? { ...state, ...endingOf(state.sourceId, "lost") } : state
