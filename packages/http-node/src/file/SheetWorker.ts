/**
 * The thread in which a workbook is unpacked and parsed. What a workbook can do to a parser, it does here: this thread
 * has its own heap, which is bounded, and can be ended at any moment. It blocks when its reader is behind, so that rows
 * do not pile up in it.
 */
import { parentPort, workerData } from "node:worker_threads"
import { streamXlsxRows } from "hucre/xlsx"
import type { SheetAnswer, SheetTask } from "./SheetTask.ts"

const ROWS = 500
const CELLS = 20_000

const { bytes, sheet, credit } = workerData as SheetTask
const port = parentPort!
const post = (answer: SheetAnswer) => port.postMessage(answer)

/** Waits for leave to send one more batch. */
const take = () => {
  for (;;) {
    const left = Atomics.load(credit, 0)
    if (left === 0) Atomics.wait(credit, 0, 0)
    else if (Atomics.compareExchange(credit, 0, left, left - 1) === left) return
  }
}

/** A day, or a moment where it has a time of day. A sheet's times have no zone. */
const dateText = (date: Date): string => {
  if (Number.isNaN(date.getTime())) return ""
  const text = date.toISOString()
  if (text.endsWith("T00:00:00.000Z")) return text.slice(0, 10)
  return text.slice(0, 19) + (text.endsWith(".000Z") ? "" : text.slice(19, 23))
}

const cellOf = (value: unknown): string | number | boolean | null => {
  if (value === null || value === undefined) return null
  if (value instanceof Date) return dateText(value)
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : String(value)
}

try {
  let rows: Array<{ line: number; cells: Array<string | number | boolean | null> }> = []
  let cells = 0
  for await (const row of streamXlsxRows(bytes, { sheet })) {
    rows.push({ line: row.index + 1, cells: row.values.map(cellOf) })
    cells += row.values.length
    if (rows.length < ROWS && cells < CELLS) continue
    take()
    post({ rows })
    rows = []
    cells = 0
  }
  take()
  post({ rows })
  post({ end: true })
} catch (cause) {
  post({ failure: cause instanceof Error ? cause.message : String(cause) })
}
