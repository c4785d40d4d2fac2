/** A process that rebuilds a table and says which step it is at: `rebuildWorker.ts databaseUrl sourceId`. */
import { TableRebuild } from "@data-cabinet/core/row/TableRebuild"
import { Effect } from "effect"
import { testCabinetLayer } from "../support/testCabinet.ts"

const [, , url = "", source = ""] = process.argv
const wishes = { columns: [{ column: "b" }], withoutEmpty: false, nestBrackets: false }
const report = ({ step }: { readonly step: string }) => Effect.sync(() => void process.send?.(step))
const run = TableRebuild.use((all) => all.run(Number(source), wishes, report))
Effect.runFork(
  Effect.ensuring(
    Effect.provide(run, testCabinetLayer(url)),
    Effect.sync(() => process.disconnect?.()),
  ),
)
