/**
 * `npm test`: prepares the clone, then runs the quick part of the suite: every test that needs no PostgreSQL, and for each
 * promise of the product those that prove it on one. `npm run ok` is what CI runs. Arguments after `--` go to
 * vitest, and then nothing is left out: `npm test -- test/flow`. `--watch` runs what a change concerns, again at each
 * change, without a build.
 */
import { join } from "node:path"
import { prepare, root, runAndExit } from "./prepare.mjs"

const PURE = ["client", "console", "core", "delivery", "http-node", "remote"].map((name) => `packages/${name}/test/`)

/** Kept exactly as sent, from intake to row, feed, delivery and file. */
const AS_SENT = ["test/flow/api.test.ts", "test/flow/intakeAnyBody.test.ts", "store-pg/test/row/RowJson"]

/** Nothing is lost, and nothing is skipped. */
const NOTHING_LOST = [
  "packages/store-pg/test/event/",
  "packages/store-pg/test/feed/",
  "test/fault/deliveryRestart.test.ts",
  "test/fault/feedFence.test.ts",
  "test/fault/intakeDatabaseLost.test.ts",
  "test/flow/intake.test.ts",
]

/** Access: no one gets in or out where they do not belong, and no one stops a neighbour. */
const WALLS = [
  "packages/store-pg/test/migrations/",
  "packages/store-pg/test/row/Hostile",
  "test/fault/hostileAuthor.test.ts",
  "test/flow/secretsUnseen.test.ts",
]

/** The house's own rules, but for those that run the linter over planted faults. */
const HOUSE = ["CodeMap", "Decisions", "Documents", "LongFunctions", "OldWords", "Version"].map(
  (name) => `test/house/${name}.test.ts`,
)

const QUICK = [...PURE, ...AS_SENT, ...NOTHING_LOST, ...WALLS, ...HOUSE]

/** These take more than their part of the time. */
const SLOW = [
  "packages/core/test/file/HtmlTables.test.ts",
  "packages/core/test/intake/LongBody.test.ts",
  "packages/core/test/intake/ParseSubmissionFuzz.test.ts",
  "packages/core/test/text/ShellWord.test.ts",
  "packages/http-node/test/file/WorkerSheetReader.test.ts",
  "packages/http-node/test/sheet/WorkbookFuzz.test.ts",
  "packages/store-pg/test/event/Erasure.test.ts",
  "packages/store-pg/test/migrations/PgMigrations.test.ts",
]

const words = process.argv.slice(2)
const watches = words.includes("--watch")
await prepare({ build: !watches })
if (words.length === 0) process.env.TEST_EXCLUDE ??= SLOW.join(",")
const mode = watches
  ? ["watch", ...words.filter((word) => word !== "--watch")]
  : ["run", ...(words.length === 0 ? QUICK : words)]
runAndExit([join(root, "node_modules", "vitest", "vitest.mjs"), ...mode])
