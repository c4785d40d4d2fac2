/**
 * The thread that inspects, unpacks and parses a workbook. Whatever a workbook can do to a parser happens here: this thread
 * has its own bounded heap, watches its memory outside the heap, and can be terminated at any moment. It blocks while its
 * reader is behind, so that rows do not pile up in it.
 */
import { parentPort, workerData } from "node:worker_threads"
import { streamXlsxRows } from "hucre/xlsx"
import type { SheetRow } from "@data-cabinet/core/file/SheetReader"
import { refusedArchive } from "./SheetLimits.ts"
import { chooseSheet } from "./SheetNames.ts"
import type { SheetResult, SheetTask } from "./SheetTask.ts"
import { partText, zipEntries } from "./ZipDirectory.ts"

const BATCH_ROWS = 500
const BATCH_CELLS = 20_000

/** Bytes of the workbook's own part, which lists the sheets. */
const LIST_BYTES = 4 * 1024 ** 2

/** Between two checks the unpacked bytes grow by no more than a fast machine's disk delivers. */
const WATCH_MILLIS = 20

const { bytes, wanted, limits, rowCharacters, credit } = workerData as SheetTask
const port = parentPort!
const post = (result: SheetResult) => port.postMessage(result)
const unreadable = (reason: string) =>
  post({
    refused: "unreadable",
    message: `The workbook cannot be read: ${reason.slice(0, 1000).replace(/\.$/, "")}.`,
  })

/** The heap's own limit does not cover bytes outside it. */
const watch = setInterval(() => {
  if (process.memoryUsage().external <= limits.outsideMegabytes * 1024 ** 2) return
  const message = `Reading the workbook takes more than ${limits.outsideMegabytes} MB of memory; save it as CSV.`
  post({ refused: "too_large", message })
  process.exit()
}, WATCH_MILLIS)

/** Waits for permission to send one more batch. */
const take = () => {
  for (;;) {
    const left = Atomics.load(credit, 0)
    if (left === 0) Atomics.wait(credit, 0, 0)
    else if (Atomics.compareExchange(credit, 0, left, left - 1) === left) return
  }
}

/** A day, or a timestamp if it has a time of day. A sheet's times have no zone. */
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

const charactersOf = (cells: ReadonlyArray<unknown>): number => {
  let sum = 0
  for (const cell of cells) if (typeof cell === "string") sum += cell.length
  return sum
}

/**
 * A text shared by many cells is one string in this thread, and one for each cell in the receiver: a workbook of some
 * kilobytes could become gigabytes there. So rows and batches are bounded by their characters, too.
 */
const send = async (sheet: number) => {
  let rows: Array<SheetRow> = []
  let cells = 0
  let characters = 0
  for await (const row of streamXlsxRows(bytes, { sheet })) {
    const line = row.index + 1
    const values = row.values.map(cellOf)
    const length = charactersOf(values)
    if (length > rowCharacters) rows.push({ line, cells: [], tooLong: true })
    else {
      rows.push({ line, cells: values })
      cells += values.length
      characters += length
    }
    if (rows.length < BATCH_ROWS && cells < BATCH_CELLS && characters < rowCharacters) continue
    take()
    post({ rows })
    rows = []
    cells = 0
    characters = 0
  }
  take()
  post({ rows })
  post({ end: true })
}

const read = async () => {
  const entries = zipEntries(bytes)
  if (entries === null) return unreadable("its directory is missing, so the file is truncated")
  const refusal = refusedArchive(entries, limits)
  if (refusal !== undefined) return post(refusal)
  const chosen = chooseSheet(partText(bytes, entries, "xl/workbook.xml", LIST_BYTES) ?? "", wanted)
  if ("missing" in chosen) return unreadable(chosen.missing)
  post({ sheet: chosen.name })
  return send(chosen.index)
}

void read()
  .catch((cause: unknown) => unreadable(cause instanceof Error ? cause.message : String(cause)))
  .finally(() => clearInterval(watch))
