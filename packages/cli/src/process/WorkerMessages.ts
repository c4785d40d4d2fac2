/**
 * What a server of several processes says among its own. The parent holds the database and the workers serve; the
 * address of the database, which may hold a password, goes this way and not by the environment.
 */
import type { CabinetDatabase } from "../compose/CabinetDatabase.ts"

/** Which worker this is, from 1; a worker that takes a dead one's place takes its number. Unset in the parent. */
export const WORKER_VARIABLE = "CABINET_WORKER_NUMBER"

/** What every worker serves, as its parent opened it. */
export interface WorkPlace {
  readonly database: CabinetDatabase
  readonly baseUrl: string
  readonly port: number
  readonly workers: number
}

export type ToWorker =
  | { readonly cabinet: "place"; readonly place: WorkPlace }
  | { readonly cabinet: "stop"; readonly haste: boolean }
  /** Asks for the worker's own counters. */
  | { readonly cabinet: "metrics"; readonly id: number }
  /** Everybody's counters, as the worker asked. */
  | { readonly cabinet: "all-metrics"; readonly id: number; readonly text: string }

export type ToParent =
  | { readonly cabinet: "hello" }
  | { readonly cabinet: "serving" }
  | { readonly cabinet: "metrics"; readonly id: number; readonly text: string }
  | { readonly cabinet: "all-metrics"; readonly id: number }

/** Other messages may come the same way; only ours have the mark. */
export const isOurs = (message: unknown): message is { readonly cabinet: string } =>
  typeof message === "object" && message !== null && "cabinet" in message
