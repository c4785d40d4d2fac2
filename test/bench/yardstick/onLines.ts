/** Responds to each line of JSON on stdin with one on stdout, after reporting that it is ready. */
import { createInterface } from "node:readline"

export const onLines = async (answer: (asked: Record<string, unknown>) => Promise<unknown>): Promise<void> => {
  process.once("SIGINT", () => process.exit(0))
  process.stdout.write("{}\n")
  for await (const line of createInterface(process.stdin)) {
    const said = await answer(JSON.parse(line) as Record<string, unknown>)
    process.stdout.write(`${JSON.stringify(said)}\n`)
  }
}
