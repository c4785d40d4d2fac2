/**
 * A vitest runner that collects the tests once, and then runs those requested over a socket, as often as requested (see
 * `TestsInOneProcess.mjs`). Loading the tests again for each mutation would take a hundred times as long as running them.
 * Mutations and tests share Stryker's `__stryker__`.
 */
import { connect } from "node:net"
import { createInterface } from "node:readline"
import { TestRunner } from "vitest"
import type { RunnerTask, RunnerTestCase, RunnerTestFile } from "vitest"

interface Stryker {
  activeMutant?: string
  currentTestId?: string
  mutantCoverage?: unknown
  hitCount?: number
  hitLimit?: number
}

/** Without `mutant` the code is unchanged, and all tests run; otherwise the named ones run until one fails. */
interface Asked {
  readonly mutant?: string
  readonly tests?: readonly string[]
  readonly hitLimit?: number
  readonly millis?: number
}

interface Outcome {
  readonly id: string
  readonly file: string
  readonly millis: number
  readonly failure?: string
}

const stryker: Stryker = ((globalThis as { __stryker__?: Stryker }).__stryker__ ??= {})

export default class HeldTests extends TestRunner {
  async onBeforeRunFiles(files: RunnerTestFile[]): Promise<void> {
    const [broken] = files.flatMap(({ result }) => result?.errors ?? [])
    if (broken !== undefined) throw new Error(broken.message)
    const tests = byId(files.flatMap(testsOf))
    const socket = connect(Number(process.env["TESTS_PORT"]), "127.0.0.1")
    for await (const line of createInterface({ input: socket })) {
      const asked = JSON.parse(Buffer.from(line, "base64").toString()) as Asked
      const outcomes = await run(tests, asked)
      const told = asked.mutant === undefined ? { outcomes, coverage: stryker.mutantCoverage } : { outcomes }
      const text = JSON.stringify({ ...told, hits: stryker.hitCount ?? 0 })
      // In base64, because a test's name may contain a line break.
      socket.write(`${Buffer.from(text).toString("base64")}\n`)
    }
    process.exit()
  }
}

const run = async (tests: ReadonlyMap<string, RunnerTestCase>, asked: Asked): Promise<readonly Outcome[]> => {
  const outcomes: Outcome[] = []
  delete stryker.hitLimit
  delete stryker.hitCount
  for (const id of asked.tests ?? tests.keys()) {
    const test = tests.get(id)
    if (test === undefined) throw new Error(`There is no test ${id}.`)
    if (asked.mutant === undefined) stryker.currentTestId = id
    else {
      stryker.activeMutant = asked.mutant
      if (asked.hitLimit !== undefined)
        Object.assign(stryker, { hitCount: stryker.hitCount ?? 0, hitLimit: asked.hitLimit })
    }
    const began = performance.now()
    const failure = await failureOf(test, asked.millis)
    delete stryker.currentTestId
    delete stryker.activeMutant
    const millis = performance.now() - began
    outcomes.push({ id, file: fileOf(test), millis, ...(failure === undefined ? {} : { failure }) })
    if (asked.mutant !== undefined && failure !== undefined) break
  }
  return outcomes
}

const failureOf = async (test: RunnerTestCase, millis = 120_000): Promise<string | undefined> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((end) => (timer = setTimeout(end, millis, `no end in ${millis} ms`)))
  const whole = async () => {
    await TestRunner.getTestFn(test)()
    return undefined
  }
  try {
    return await Promise.race([late, whole()])
  } catch (error) {
    return String(error)
  } finally {
    clearTimeout(timer)
  }
}

const testsOf = (task: RunnerTask): readonly RunnerTestCase[] =>
  task.type === "suite" ? task.tasks.flatMap(testsOf) : [task]

/** Tests by their names from outermost to innermost, with a number if several have the same, as rows of a table may. */
const byId = (all: readonly RunnerTestCase[]): ReadonlyMap<string, RunnerTestCase> => {
  const tests = new Map<string, RunnerTestCase>()
  for (const test of all) {
    let id = test.fullTestName
    for (let number = 2; tests.has(id); number++) id = `${test.fullTestName} (${number})`
    tests.set(id, test)
  }
  return tests
}

const fileOf = (test: RunnerTestCase): string => {
  let outermost = test.suite
  while (outermost?.suite !== undefined && outermost.suite !== outermost.file) outermost = outermost.suite
  return outermost?.name ?? ""
}
