/** Options and helpers of both simulations. */
import type { Cluster } from "../cluster.ts"

export interface Simulation {
  readonly cluster: Cluster
  /** Prints a result, and keeps it for the end. */
  readonly note: (name: string, value: unknown) => void
}

export const rounded = (value: number, digits = 1) => Number(value.toFixed(digits))
