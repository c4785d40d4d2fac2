/** Examines a cabinet, and names its problems and their fixes. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Finding } from "./Finding.ts"

/** The findings in words, and all measurements, named as in JSON. */
export interface DoctorReport {
  /** No finding is `bad`. */
  readonly ok: boolean
  readonly findings: ReadonlyArray<Finding>
  /** Null if only the cabinet's own machine can examine it. */
  readonly connection: unknown
  readonly database: unknown
  readonly standby: unknown
  readonly deliveries: unknown
}

export class Doctor extends Context.Service<
  Doctor,
  { readonly examine: Effect.Effect<DoctorReport, StoreUnavailable> }
>()("@data-cabinet/core/diagnostics/Doctor") {}
