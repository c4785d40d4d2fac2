/**
 * `main.mjs TOOLS FOLDER…`: changes the code of folders of packages/core/src in small ways, one at a time, and counts the
 * changes that the tests of packages/core notice (see `docs/mutation.md`). Without a folder: those of which `scores.json` keeps
 * a score. Fails where less is noticed than the kept score says. What was tried before, and has not changed since, nor have its
 * tests, is not tried again. TOOLS is where Stryker is installed, and where it keeps what it has seen.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"

/** By folder, in percent, rounded down. */
const kept = JSON.parse(readFileSync("test/mutation/scores.json", "utf8"))

const [tools, ...named] = process.argv.slice(2)
const folders = named.length > 0 ? named : Object.keys(kept)
const runs = join(tools, "runs")
mkdirSync(runs, { recursive: true })

const NOTICED = ["Killed", "Timeout"]

const changesOf = () => {
  const report = join(runs, "report.json")
  const config = join(runs, "config.json")
  writeFileSync(
    config,
    JSON.stringify({
      testRunner: "testsInOneProcess",
      plugins: ["TestsInOneProcess.mjs", "notChanged.mjs"].map((file) => resolve("test/mutation", file)),
      ignorers: ["notChanged"],
      mutate: folders.map((folder) => `packages/core/src/${folder}/**/*.ts`),
      // What runs once, when a module is loaded, would need a process for each change.
      ignoreStatic: true,
      incremental: true,
      incrementalFile: join(runs, "seen.json"),
      reporters: ["json", "progress-append-only"],
      jsonReporter: { fileName: report },
      // What the tests wait for is counted in these, on a machine that does other things, too.
      timeoutMS: 10_000,
      concurrency: 1,
      tsconfigFile: "none",
      tempDirName: join(tools, "sandbox"),
      cleanTempDir: "always",
      ignorePatterns: ["dist", ".cabinet", "site"],
    }),
  )
  const { status } = spawnSync(
    process.execPath,
    [join(tools, "node_modules/@stryker-mutator/core/bin/stryker.js"), "run", config],
    {
      stdio: "inherit",
    },
  )
  if (status !== 0) throw new Error("The changes could not be tried.")
  return Object.entries(JSON.parse(readFileSync(report, "utf8")).files).flatMap(([file, { mutants }]) =>
    mutants.map((mutant) => ({ file, ...mutant })),
  )
}

const changes = changesOf()

const told = folders.map((folder) => {
  const own = changes.filter(({ file }) => file.startsWith(`packages/core/src/${folder}/`))
  const of = (...statuses) => own.filter(({ status }) => statuses.includes(status))
  const unnoticed = of("Survived")
  for (const { file, location, mutatorName, replacement } of unnoticed)
    process.stdout.write(`${file}:${location.start.line}:${location.start.column} ${mutatorName}: ${replacement}\n`)
  const tried = of(...NOTICED).length + unnoticed.length
  const percent = tried === 0 ? 100 : Math.floor((100 * of(...NOTICED).length) / tried)
  return { folder, tried, percent, untested: of("NoCoverage").length, least: kept[folder] ?? 0 }
})

for (const { folder, tried, percent, untested, least } of told)
  process.stdout.write(
    `${folder}: ${percent} % of ${tried} changes are noticed (kept: ${least} %); no test of core runs the place of ${untested} more\n`,
  )
process.exitCode = told.some(({ percent, least }) => percent < least) ? 1 : 0
