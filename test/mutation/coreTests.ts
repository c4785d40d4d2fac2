/** The tests of packages/core that changes of its code are tried with. */
import { globSync } from "node:fs"
import { resolve } from "node:path"
import { describe } from "vitest"

const LEFT_OUT = [
  // It measures its process, in which other tests' objects are, too.
  "packages/core/test/runtime/LiveSetMemory.test.ts",
  // Megabytes, of which Stryker counts each step. They say how long a piece of work is, not what it reads.
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
