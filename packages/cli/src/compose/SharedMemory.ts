/** The memory for submissions that wait: one budget for all cabinets of a process. */
import { getHeapStatistics } from "node:v8"
import { MAX_WAITING_BYTES, Memory, MemoryBudget } from "@data-cabinet/core/limit/MemoryBudget"
import { Layer } from "effect"
import type { CabinetOptions } from "./CabinetLayer.ts"

/** Shared by all cabinets of this process: an eighth of the JavaScript heap's limit. */
const SHARED_MEMORY = new MemoryBudget(Math.min(MAX_WAITING_BYTES, getHeapStatistics().heap_size_limit / 8))

/** The given budget, or the shared one. */
export const memoryLayer = ({ memory = SHARED_MEMORY }: Pick<CabinetOptions, "memory">) => Layer.succeed(Memory, memory)
