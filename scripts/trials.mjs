/**
 * `npm run trials`: checks that take too long for every change, run by hand. `npm run trials -- --list` says what each part
 * does. A part that this machine cannot run is reported, not skipped silently. Arguments after `--` name the parts: `npm run
 * trials -- oldest`; after `mutation` they name folders of core: `npm run trials -- mutation json pagination`. A variable
 * that is already set keeps its value, so `UNSTOPPABLE_SECONDS=120 npm run trials -- unstoppable` is a short form of a part.
 */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { node24, prepare, root } from "./prepare.mjs"

const OLDEST = "/usr/lib/postgresql/15/bin"
const vitest = join(root, "node_modules", "vitest", "vitest.mjs")

/** Tests that do not depend on the database's version, or that always run the embedded one. */
const ELSEWHERE = [
  "packages/core/**",
  "packages/http-node/**",
  "packages/store-pg/test/embedded/**",
  "packages/delivery/**",
  "test/house/**",
  "test/bench/**",
  "test/fault/backup.test.ts",
  "test/flow/packages.test.ts",
  "test/flow/examples.test.ts",
]

/** Tests elsewhere of what is read from PostgreSQL's messages. */
const READERS = [
  "test/fault/databaseLost.test.ts",
  "test/fault/feedFence.test.ts",
  "test/fault/standby.test.ts",
  "test/flow/api.test.ts",
  "test/flow/followTheFeed.test.ts",
]

const BROWSERS = [process.env["CHROMIUM"] ?? "", "chromium-headless-shell", "chromium", "google-chrome"]
const chromium = BROWSERS.find((name) => name !== "" && spawnSync(name, ["--version"]).status === 0) ?? ""

const PARTS = {
  long: {
    about: "the tests that CI leaves out for their length",
    missing: null,
    run: [vitest, "run", "--project=trials"],
    env: {},
  },
  coverage: {
    about: "how much of the code the suite runs",
    missing: null,
    program: "bash",
    run: [join(root, ".ci", "coverage")],
    env: {},
  },
  oldest: {
    about: "the whole suite on the oldest supported PostgreSQL",
    missing: existsSync(join(OLDEST, "postgres")) ? null : `no PostgreSQL in ${OLDEST}`,
    run: [vitest, "run"],
    env: { TEST_PG_BIN: OLDEST, TEST_EXCLUDE: ELSEWHERE.join(",") },
  },
  versions: {
    about: "every version of PostgreSQL by every route of an upgrade",
    missing: [16, 17].every((version) => existsSync(join(root, "node_modules", ".data-cabinet", `postgres-${version}`)))
      ? null
      : "no PostgreSQL 16 and 17 (.ci/postgres fetches them)",
    run: [vitest, "run", "test/fault/matrix.test.ts"],
    env: { POSTGRES_VERSIONS: "15,16,17,18" },
  },
  packets: {
    about: "rows and the feed with every packet cut at every byte",
    missing: null,
    run: [
      vitest,
      "run",
      ...["row", "feed", "connection"].map((folder) => `packages/store-pg/test/${folder}/`),
      ...READERS,
    ],
    env: { CUT_PACKETS: "1" },
  },
  failovers: {
    about: "twenty failovers of Patroni",
    missing: ["patroni", "etcd"].every((program) => spawnSync(program, ["--version"]).status === 0)
      ? null
      : "no Patroni with etcd (.ci/patroni installs them)",
    run: [vitest, "run", "test/fault/failover.test.ts", "--disable-console-intercept"],
    env: { FAILOVERS: "20" },
  },
  restarts: {
    about: "a hundred restarts of the database",
    missing: null,
    run: [vitest, "run", "test/fault/databaseRestarts.test.ts"],
    env: { ROUNDS: "100" },
  },
  destinations: {
    about: "a hundred kills of workers that write to a bucket",
    missing: null,
    run: [vitest, "run", "test/fault/destinations.test.ts"],
    env: { DESTINATION_KILLS: "100" },
  },
  model: {
    about: "the model of the feed with all its readers",
    missing: null,
    run: [vitest, "run", "test/model/feedFence.test.ts"],
    env: { MODEL: "whole" },
  },
  unstoppable: {
    about: "ten minutes beside a view that nothing can stop",
    missing: null,
    run: [vitest, "run", "test/fault/unstoppable.test.ts", "--disable-console-intercept"],
    env: { UNSTOPPABLE_SECONDS: "600" },
  },
  small: {
    about: "a machine of 512 MB and one core",
    missing: process.getuid?.() === 0 && existsSync("/sys/fs/cgroup") ? null : "not root, or no control groups",
    run: [vitest, "run", "test/fault/smallMachine.test.ts", "--disable-console-intercept"],
    env: { SMALL_SECONDS: "30" },
  },
  everything: {
    about: "ten minutes of everything that a server does at once, at half of its capacity",
    missing: null,
    run: [vitest, "run", "test/fault/everything.test.ts", "--disable-console-intercept"],
    env: { EVERYTHING_SECONDS: "600" },
  },
  ordered: {
    about: "a thousand faults of deliveries in order",
    missing: null,
    run: [vitest, "run", "test/fault/orderedDeliveries.test.ts", "--disable-console-intercept"],
    env: { ORDERED_ROUNDS: "1000", ORDERED_ADDRESSES: "20" },
  },
  addresses: {
    about: "batches to 20,000 addresses, the cost of an accept with up to 100,000, and two million deliveries",
    missing: null,
    run: [vitest, "run", "test/fault/manyAddresses.test.ts", "--disable-console-intercept"],
    env: { DELIVERED_ADDRESSES: "2000", DELIVERED_EVENTS: "1000" },
  },
  nats: {
    about: "half an hour of kills, stops and cuts of three brokers of NATS and of what publishes to them",
    missing:
      spawnSync("/usr/sbin/nats-server", ["--version"]).status === 0 ? null : "no nats-server (.ci/nats installs one)",
    run: [vitest, "run", "test/fault/natsCluster.test.ts", "--disable-console-intercept"],
    env: { NATS_MINUTES: "30" },
  },
  receivers: {
    about: "the example receivers in four languages",
    missing: ["go version", "php --version"].every((probe) => spawnSync("sh", ["-c", probe]).status === 0)
      ? null
      : "no Go and PHP (Debian's golang-go and php-cli)",
    run: [vitest, "run", "test/fault/deliveryReceivers.test.ts"],
    env: {},
  },
  agents: {
    about: "ten tasks by the tool list alone, twenty kills under an agent's webhook, 5,000 random requests",
    missing: null,
    run: [
      vitest,
      "run",
      "test/flow/agentTasks.test.ts",
      "test/fault/agentWebhooks.test.ts",
      "test/flow/agentEventsFuzz.test.ts",
    ],
    env: { AGENT_ROUNDS: "20", FUZZED_REQUESTS: "5000" },
  },
  apply: {
    about: "200 random cabinets applied from their files, and a hundred killed applies",
    missing: null,
    run: [
      vitest,
      "run",
      "packages/cli/test/config/ApplyFile.test.ts",
      "test/fault/applyKilled.test.ts",
      "--disable-console-intercept",
      "--testTimeout=3600000",
    ],
    env: { APPLY_CABINETS: "200", APPLY_KILLS: "100" },
  },
  rebuilds: {
    about: "25 killed rebuilds, and one of two million rows",
    missing: null,
    run: [
      vitest,
      "run",
      "test/fault/rebuildKilled.test.ts",
      "test/fault/rebuildUnderLoad.test.ts",
      "--disable-console-intercept",
    ],
    env: { REBUILD_KILLS: "20", REBUILD_ROWS: "2000000" },
  },
  cold: {
    about: "two million events, half of them moved into files, and 100 kills of the process that moves them",
    missing: null,
    run: [
      vitest,
      "run",
      "test/fault/coldTrial.test.ts",
      "test/fault/coldKilled.test.ts",
      "--disable-console-intercept",
    ],
    env: { COLD_EVENTS: process.env["COLD_EVENTS"] ?? "2000000", COLD_KILLS: process.env["COLD_KILLS"] ?? "100" },
  },
  client: {
    about: "a client that follows 200,000 events through kills",
    missing: null,
    run: [vitest, "run", "test/flow/client.test.ts"],
    env: { CLIENT_EVENTS: "200000" },
  },
  waits: {
    about: "500 clients that wait for events",
    missing: null,
    run: [vitest, "run", "test/fault/feedWaiters.test.ts", "--disable-console-intercept"],
    env: { WAITING_CLIENTS: "500" },
  },
  exports: {
    about: "a million rows exported in every form and read back",
    missing: null,
    run: [vitest, "run", "test/fault/exportMemory.test.ts", "--disable-console-intercept"],
    env: { EXPORT_ROWS: "1000000" },
  },
  openapi: {
    about: "the description of the API under three linters and in two generators",
    missing: null,
    program: "bash",
    run: [join(root, ".ci", "openapi")],
    env: {},
  },
  runtimes: {
    about: "the client on Deno and Bun",
    missing: null,
    program: "bash",
    run: [join(root, ".ci", "runtimes")],
    env: {},
  },
  // Each round asks every endpoint, of which there are some 95: more than 10,000 requests.
  fuzz: {
    about: "10,000 requests with odd bodies and parameters to the management API",
    missing: null,
    run: [vitest, "run", "test/flow/management.test.ts", "-t", "no body and no parameter"],
    env: { FUZZ_ROUNDS: "180" },
  },
  workbooks: {
    about: "10,000 damaged workbooks twice, and the corpus beside LibreOffice",
    missing:
      spawnSync("soffice", ["--version"]).status === 0 ? null : "no LibreOffice (Debian's libreoffice-calc-nogui)",
    run: [vitest, "run", "test/flow/workbooks.test.ts", "packages/http-node/test/sheet/WorkbookFuzz.test.ts"],
    env: { LIBREOFFICE: "soffice", FUZZ_ROUNDS: "10000" },
  },
  files: {
    about: "10,000 damaged CSV, JSON and HTML files, and half a million bodies",
    missing: null,
    run: [
      vitest,
      "run",
      "packages/core/test/file/DamagedFiles.test.ts",
      "packages/core/test/intake/ParseSubmissionFuzz.test.ts",
    ],
    env: { FILE_MUTATIONS: "10000", FUZZ_BODIES: "500000" },
  },
  // Of 40 files of every format, read as a server reads them: workbooks in threads, which takes most of an hour.
  imports: {
    about: "10,000 mutations of files of every format imported",
    missing: null,
    run: [vitest, "run", "test/flow/fuzzedImports.test.ts", "--disable-console-intercept"],
    env: { FUZZ_ROUNDS: "10000" },
  },
  screens: {
    about: "every screen in all its looks",
    missing: chromium === "" ? "no Chromium (.ci/chromium installs one)" : null,
    run: [vitest, "run", "--config", "test/browser/vitest.config.ts", "test/browser/consoleScreens.test.ts"],
    env: { CHROMIUM: chromium, LOOKS: "all" },
  },
  sizes: {
    about: "a table of a million rows in a browser",
    missing: chromium === "" ? "no Chromium (.ci/chromium installs one)" : null,
    run: [
      vitest,
      "run",
      "--config",
      "test/browser/vitest.config.ts",
      "test/browser/consoleSizes.test.ts",
      "--disable-console-intercept",
    ],
    env: { CHROMIUM: chromium, TABLE_ROWS: "1000000", SCROLLED_ROWS: "100000", JUMP_ROWS: "10000000" },
  },
  consumers: {
    about: "the package with every compiler, bundler, framework and runtime that the documents name",
    missing: null,
    run: [vitest, "run", "test/flow/packages.test.ts", "test/flow/mounting.test.ts"],
    env: { EVERY_CONSUMER: "1" },
  },
  n8n: {
    about: "a real n8n with a workflow on the feed, killed twice",
    missing: existsSync(join(root, "node_modules", ".data-cabinet", "n8n-whole", "done"))
      ? null
      : "no n8n (.ci/n8n and .ci/n8n whole fetch it)",
    run: [vitest, "run", "test/fault/n8n.test.ts", "--disable-console-intercept"],
    env: { N8N_KILLS: "2" },
  },
  starters: {
    about: "the starters in six frameworks",
    missing: null,
    run: [vitest, "run", "test/flow/starters.test.ts"],
    env: {},
  },
  nodes: {
    about: "the package on the oldest supported and the newest Node",
    missing: null,
    program: "bash",
    run: [join(root, ".ci", "nodes")],
    env: {},
  },
  image: {
    about: "the image of deploy/",
    missing: process.getuid?.() === 0 ? null : "not root (.ci/image builds a base of its own)",
    program: "bash",
    run: [join(root, ".ci", "image")],
    env: {},
  },
  mutation: {
    about: "core's code with each of some thousand small changes",
    missing: null,
    program: "bash",
    run: [join(root, ".ci", "mutation")],
    env: {},
  },
  bench: {
    about: "everything in test/bench at full size",
    missing: null,
    run: ["--conditions=source", join(root, "test", "bench", "main.ts")],
    env: {},
  },
}

const words = process.argv.slice(2)
if (words.includes("--list")) {
  for (const [name, { about }] of Object.entries(PARTS)) process.stdout.write(`${name}: ${about}\n`)
  process.exit(0)
}
const folders = words[0] === "mutation" ? words.slice(1) : []
const named = words.slice(0, words.length - folders.length)
const unknown = named.find((name) => !(name in PARTS))
if (unknown !== undefined) {
  process.stderr.write(`No such part: ${unknown}. There are ${Object.keys(PARTS).join(", ")}.\n`)
  process.exit(2)
}

await prepare({ build: true })
const outcomes = Object.entries(PARTS)
  .filter(([name]) => named.length === 0 || named.includes(name))
  .map(([name, { missing, program = node24, run, env }]) => {
    if (missing !== null) return [name, `not run: ${missing}`]
    const began = Date.now()
    const { status } = spawnSync(program, [...run, ...folders], {
      cwd: root,
      env: { ...env, ...process.env },
      stdio: "inherit",
    })
    const seconds = Math.round((Date.now() - began) / 1_000)
    return [name, `${status === 0 ? "held" : "FAILED"} after ${seconds} s`]
  })
for (const [name, outcome] of outcomes) process.stdout.write(`${name}: ${outcome}\n`)
process.exitCode = outcomes.some(([, outcome]) => !outcome.startsWith("held")) ? 1 : 0
