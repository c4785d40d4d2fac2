import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { assert, it } from "vitest"

const PROGRAM = `
  const { yardstick } = await import("./contestant.ts")
  const { pid } = await yardstick("receiver", "arrivals")
  process.stdout.write(String(pid), () => process.exit())
`

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

it("a contestant ends with the process that started it", async () => {
  const words = ["--conditions=source", "--input-type=module", "--eval", PROGRAM]
  const owner = spawn(process.execPath, words, { cwd: import.meta.dirname, stdio: ["ignore", "pipe", "inherit"] })
  const [said] = await Promise.all([text(owner.stdout), once(owner, "exit")])
  const pid = Number(said)
  assert.isAbove(pid, 0)
  while (isAlive(pid)) await sleep(5)
})
