/**
 * A test runner of Stryker: asks the process of `HeldTests.ts` to run tests of packages/core, of which none may change what the
 * next one finds. A process that does not come back is ended by Stryker, with what it has started, and begun again.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:net"
import { createInterface } from "node:readline"
import { join } from "node:path"

class TestsInOneProcess {
  /** What a test took when nothing was changed. */
  millisOf = new Map()

  /** Says that it loads the code again where Stryker asks for that, or it would be begun again: see `ignoreStatic`. */
  capabilities() {
    return { reloadEnvironment: true }
  }

  async init() {
    const server = createServer()
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    this.process = spawn(
      process.execPath,
      [join("node_modules", "vitest", "vitest.mjs"), "run", "--config", "test/mutation/vitest.config.ts"],
      { env: { ...process.env, TESTS_PORT: String(server.address().port) }, stdio: ["ignore", "pipe", "pipe"] },
    )
    let said = ""
    for (const stream of [this.process.stdout, this.process.stderr])
      stream.on("data", (bytes) => (said = (said + bytes).slice(-4_000)))
    const ended = once(this.process, "exit").then(() => {
      throw new Error(`The tests' process has ended:\n${said}`)
    })
    ended.catch(() => undefined)
    const [socket] = await Promise.race([once(server, "connection"), ended])
    server.close()
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
    this.ask = async (asked) => {
      socket.write(`${Buffer.from(JSON.stringify(asked)).toString("base64")}\n`)
      const { value } = await Promise.race([lines.next(), ended])
      if (value === undefined) throw new Error(`The tests' process has ended:\n${said}`)
      return JSON.parse(Buffer.from(value, "base64").toString())
    }
  }

  async dryRun() {
    const { outcomes, coverage } = await this.ask({})
    for (const { id, millis } of outcomes) this.millisOf.set(id, millis)
    return {
      status: "complete",
      mutantCoverage: coverage,
      tests: outcomes.map(({ id, file, millis, failure }) => ({
        id,
        name: id,
        fileName: file,
        timeSpentMs: millis,
        ...(failure === undefined ? { status: 0 } : { status: 1, failureMessage: failure }),
      })),
    }
  }

  async mutantRun({ activeMutant, testFilter, hitLimit, timeout }) {
    // The quickest first: most changes are noticed by many.
    const tests = testFilter?.toSorted((one, other) => (this.millisOf.get(one) ?? 0) - (this.millisOf.get(other) ?? 0))
    const { outcomes, hits } = await this.ask({ mutant: activeMutant.id, tests, hitLimit, millis: timeout / 2 })
    const nrOfTests = outcomes.length
    const failed = outcomes.find(({ failure }) => failure !== undefined)
    if (hitLimit !== undefined && hits > hitLimit) return { status: "timeout", reason: "It runs without an end." }
    if (failed === undefined) return { status: "survived", nrOfTests }
    return { status: "killed", killedBy: [failed.id], failureMessage: failed.failure, nrOfTests }
  }

  async dispose() {
    this.process?.kill("SIGKILL")
  }
}

export const strykerPlugins = [{ kind: "TestRunner", name: "testsInOneProcess", injectableClass: TestsInOneProcess }]
