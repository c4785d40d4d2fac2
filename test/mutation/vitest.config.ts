/** All tests of packages/core in one long-lived process, in which `HeldTests.ts` runs them on request. */
import { defineConfig } from "vitest/config"

const conditions = ["source", "module", "node", "development|production"]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ["node", "module-sync"] } },
  test: {
    include: ["test/mutation/coreTests.ts"],
    runner: "test/mutation/HeldTests.ts",
    pool: "forks",
    isolate: false,
    testTimeout: 120_000,
  },
})
