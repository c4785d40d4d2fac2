import { readFile } from "node:fs/promises"
import { configDefaults, defineConfig } from "vitest/config"

// Packages are tested from their sources: the condition "source" leads to src/*.ts.
const conditions = ["source", "module", "node", "development|production"]

/** Their TypeScript is published under the condition "source", or named by their source maps and not published at all. */
const COMPILED = /\/(?:@modelcontextprotocol\/(?:sdk|client)|eventsource|eventsource-parser)\//

/** Their source maps lead to files that were not published, of which each run would warn some twenty times. */
const withoutSourceMaps = {
  name: "without-source-maps",
  enforce: "pre" as const,
  load: async (id: string) =>
    COMPILED.test(id) && id.endsWith(".js")
      ? (await readFile(id, "utf8")).replace(/^\/\/# sourceMappingURL=.*$/m, "")
      : undefined,
}

const sources = {
  plugins: [withoutSourceMaps],
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ["node", "module-sync"] } },
  // The environment that vitest loads the global setup in; without this it would run what was last built.
  environments: { __vitest__: { resolve: { conditions, externalConditions: ["source", "node", "module-sync"] } } },
}

const test = {
  // eventsource and its parser name files of their TypeScript under the condition "source".
  server: { deps: { inline: [COMPILED] } },
  setupFiles: [
    "test/support/eachResponseDescribed.ts",
    ...(process.env["CUT_PACKETS"] === undefined ? [] : ["test/support/cutPackets.ts"]),
  ],
  pool: "forks" as const,
  // Twice the cores of CI: much of what is tested waits for a process, for PostgreSQL or for time.
  maxWorkers: 4,
  // Not how long a test takes, but when it hangs: a machine may be busy with other things.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  teardownTimeout: 60_000,
  expect: { poll: { timeout: 60_000 } },
}

/** One cluster for all projects of a run, started if a file of one of them is run. */
const globalSetup = ["test/support/postgresCluster.ts"]

/** These reach no PostgreSQL, so that a run of them alone waits for none. */
const PURE = ["packages/{client,console,core,delivery,http-node,remote}/test/**/*.test.ts"]

/**
 * These change their process (its environment, its working directory), measure it, or start others, for which loading
 * modules is the least: each has a process of its own.
 */
const ALONE = [
  "packages/cli/test/**/*.test.ts",
  "packages/store-pg/test/embedded/*.test.ts",
  "test/**/*.test.ts",
  "examples/**/*.test.ts",
]

const PURE_ALONE = [
  "packages/core/test/runtime/Instrument.test.ts",
  "packages/core/test/runtime/LiveSetMemory.test.ts",
  "packages/http-node/test/file/*.test.ts",
  "packages/http-node/test/intake/ContentEncoding.test.ts",
]

/** These break things on purpose and wait for deadlines, which counting what a process runs would let pass. */
const FAULTS = "test/fault/**/*.test.ts"

/** Flows in a cabinet of the test's own process, of which they change nothing. */
const FLOWS = [
  "test/flow/{agents,api,console*,feedFollowers,handshakes,idempotency,import,importUndo,intake*}.test.ts",
  "test/flow/{changedSource,lateVerification,management,markedSenders,nestedBrackets,orderedDeliveries}.test.ts",
  "test/flow/{otherReadings,people,poll,pollRedirects,readerTokens,reread,secretKey,senderMatrix}.test.ts",
  "test/flow/{sendersLives,sharedAddress,snsSender,spam,standardWebhooks,upload,verifiedSenders}.test.ts",
]

/** These are run by processes that have loaded the modules of those before. */
const TOGETHER = ["packages/store-pg/test/**/*.test.ts", ...FLOWS]

/**
 * These wait for deadlines, recoveries and package registries, or go through every command or pattern, for a quarter of a minute
 * and more each. CI runs them beside those that break things; named, each runs as the others do.
 */
const LONG = [
  "packages/store-pg/test/embedded/{CloseCluster,WorkingLauncher}.test.ts",
  "test/fault/{databaseLost,delivery,deliveryHostile,embeddedRights,feedEpochs}.test.ts",
  "test/fault/{feedSetBack,import,killServer,notices,reports,slowSenders,standby}.test.ts",
  "test/flow/{agentWebhooks,embedding,examples,exportForms,feedWaits,guides,mounting,packages,receivers,start,workers}.test.ts",
  "test/house/UnboundedWork.test.ts",
]

/**
 * Each of these takes a minute and more, and a shorter test in CI holds a part of what it does. `npm run trials -- long` runs
 * them; named, each runs as the others do.
 */
const TRIALS = [
  "packages/cli/test/commands/{Remote,TableLatest,TableMaintenance,WrongDatabase}.test.ts",
  "packages/store-pg/test/embedded/{EmbeddedPostgres,Restore}.test.ts",
  "packages/store-pg/test/row/RandomSelectionsLong.test.ts",
  "test/bench/main.test.ts",
  "test/fault/{applyKilled,backup,coldTrial,databaseRestarts,databaseTls,exportEvents,exportMemory,feedServers,feedUnderLoad}.test.ts",
  "test/fault/{feedWaiters,fewConnections,matrix,rolling,startStalls,tenantMove,unconfirmedCommits}.test.ts",
  "test/fault/{everything,manyAddresses,n8n,smallMachine,unstoppable,upgrade}.test.ts",
  "test/flow/{agentTasks,clientCertificate,consoleCopy,export,exportEvents,fuzzedImports,intakeRepeats,listen,manyCabinets,starters}.test.ts",
]

/** Patterns that a run is to leave out, separated by commas: `--exclude` does not reach projects. */
const leftOut = (process.env["TEST_EXCLUDE"] ?? "").split(",").filter((pattern) => pattern !== "")

// Those in test/browser have a configuration of their own, so that `npm test` needs no browser.
const exclude = [...configDefaults.exclude, "test/browser/**", ...leftOut]

/** What the tests in a browser share with the others. */
export const common = { ...sources, test: { ...test, globalSetup } }

export default defineConfig({
  ...sources,
  test: {
    ...test,
    // Of the code that runs in the tests' own processes; what the processes do that tests start is not counted. A trial.
    coverage: {
      provider: "v8",
      include: ["packages/*/src/**/*.ts"],
      reporter: ["json-summary"],
      reportOnFailure: true,
    },
    projects: [
      {
        test: { name: "pure", include: PURE, exclude: [...exclude, ...PURE_ALONE], isolate: false },
      },
      { test: { name: "pure-alone", include: PURE_ALONE, exclude, isolate: true } },
      {
        test: {
          globalSetup,
          name: "alone",
          include: ALONE,
          exclude: [...exclude, ...LONG, ...TRIALS, FAULTS, ...FLOWS],
          isolate: true,
        },
      },
      {
        test: {
          globalSetup,
          name: "faults",
          include: [FAULTS],
          exclude: [...exclude, ...LONG, ...TRIALS],
          isolate: true,
        },
      },
      { test: { globalSetup, name: "long", include: LONG, exclude, isolate: true } },
      { test: { globalSetup, name: "trials", include: TRIALS, exclude, isolate: true } },
      {
        test: {
          globalSetup,
          name: "together",
          include: TOGETHER,
          exclude: [...exclude, ...TRIALS, ...ALONE.filter((one) => !one.startsWith("test/"))],
          isolate: false,
        },
      },
    ],
  },
})
