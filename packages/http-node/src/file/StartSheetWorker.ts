/**
 * Starts the thread of `SheetWorker`, the file next to this one. A bundle has no such file, and replaces this module
 * with one that contains the program's text (`scripts/bundle/embedFiles.mjs`).
 */
import { Worker, type WorkerOptions } from "node:worker_threads"

/** Next to the compiled file, or to its source when running from source. */
const FILE = new URL(`./SheetWorker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url)

/** A new thread; its task is in `workerData`. */
export const startSheetWorker = (options: WorkerOptions): Worker => new Worker(FILE, options)
