/** The tests of packages/core that mutations of its code run against. */
import { globSync } from "node:fs"
import { resolve } from "node:path"
import { describe } from "vitest"

const LEFT_OUT = [
  // It measures its process, which also holds the objects of other tests.
  "packages/core/test/runtime/LiveSetMemory.test.ts",
  // These process megabytes, whose every step Stryker counts, and they test durations rather than results.
  "packages/core/test/file/LongItems.test.ts",
  "packages/core/test/intake/LongBody.test.ts",
  "packages/core/test/intake/ParseSubmissionFuzz.test.ts",
  "packages/core/test/json/KeyOrder.test.ts",
  "packages/core/test/json/LongDecimal.test.ts",
  "packages/core/test/row/LongValues.test.ts",
  "packages/core/test/selection/SampleRows.test.ts",
]

const files = globSync("packages/core/test/**/*.test.ts").filter((file) => !LEFT_OUT.includes(file))

describe.each(files.toSorted())("%s", (file) => import(resolve(file)))
