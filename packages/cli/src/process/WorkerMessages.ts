/**
 * The messages between the processes of one server. The parent holds the database and the workers serve; the database's
 * address, which may hold a password, is sent this way and not through the environment.
 */
import type { CabinetDatabase } from "../compose/CabinetDatabase.ts"

/** The worker's number, from 1; a replacement takes the number of the worker that died. Unset in the parent. */
export const WORKER_VARIABLE = "CABINET_WORKER_NUMBER"

/** The settings of every worker, from its parent. */
export interface WorkPlace {
  readonly database: CabinetDatabase
  readonly baseUrl: string
  readonly port: number
  readonly workers: number
}

export type ToWorker =
  | { readonly cabinet: "place"; readonly place: WorkPlace }
  | { readonly cabinet: "stop"; readonly fast: boolean }
  /** Requests the worker's own metrics. */
  | { readonly cabinet: "metrics"; readonly id: number }
  /** The metrics of all workers, in reply to a worker's request. */
  | { readonly cabinet: "all-metrics"; readonly id: number; readonly text: string }

export type ToParent =
  | { readonly cabinet: "hello" }
  | { readonly cabinet: "serving" }
  | { readonly cabinet: "metrics"; readonly id: number; readonly text: string }
  | { readonly cabinet: "all-metrics"; readonly id: number }

/** Other messages may use the same channel; only ours have the mark. */
export const isOurs = (message: unknown): message is { readonly cabinet: string } =>
  typeof message === "object" && message !== null && "cabinet" in message
