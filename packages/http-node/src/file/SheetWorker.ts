/**
 * The thread that inspects, unpacks and parses a workbook. A hostile workbook can harm only this thread, which has its
 * own bounded heap and can be terminated at any moment. It blocks while its reader is behind, so that rows do not pile
 * up in it.
 */
import { parentPort, workerData } from "node:worker_threads"
import { readWorkbook } from "../sheet/ReadWorkbook.ts"
import { SheetFault } from "../sheet/SheetFault.ts"
import type { SheetResult, SheetTask } from "./SheetTask.ts"

const MAX_REASON = 1000

const { bytes, wanted, limits, rowCharacters, credit } = workerData as SheetTask
const port = parentPort!
const post = (result: SheetResult) => port.postMessage(result)

/** Waits for permission to send one more batch. */
const take = () => {
  for (;;) {
    const left = Atomics.load(credit, 0)
    if (left === 0) Atomics.wait(credit, 0, 0)
    else if (Atomics.compareExchange(credit, 0, left, left - 1) === left) return
  }
}

const read = async () => {
  await readWorkbook(bytes, {
    wanted,
    limits,
    rowCharacters,
    named: (sheet, empty) => post({ sheet, empty }),
    send: (rows) => {
      take()
      post({ rows })
    },
  })
  post({ end: true })
}

void read().catch((cause: unknown) => {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const refused = cause instanceof SheetFault ? cause.code : "unreadable"
  const isChoice = cause instanceof SheetFault && cause.isChoice
  post({
    refused,
    isChoice,
    message: `The workbook cannot be read: ${reason.slice(0, MAX_REASON).replace(/\.$/, "")}.`,
  })
})
