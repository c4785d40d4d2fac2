/** Examines a cabinet, and names its problems and their fixes. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import * as Shape from "../json/Shape.ts"

/** `bad` needs attention now, `warn` soon. */
export type Level = "ok" | "warn" | "bad"

/** The result of one check. */
export interface Finding {
  readonly check: string
  readonly level: Level
  readonly message: string
}

/** Its JSON and its description. */
export const findingShape = Shape.object<Finding>("A finding.", {
  check: Shape.text("What was checked."),
  level: Shape.oneOf(["ok", "warn", "bad"], "`bad` needs attention now, `warn` soon."),
  message: Shape.text("The finding, and its remedy."),
})

/** `check` has two words at most. */
export const finding = (check: string, level: Level, message: string): Finding => ({ check, level, message })

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
