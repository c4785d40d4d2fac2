import { configDefaults, defineConfig } from "vitest/config"

// Packages are tested from their sources: the condition "source" leads to src/*.ts.
const conditions = ["source", "module", "node", "development|production"]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ["node", "module-sync"] } },
  // The environment that vitest loads the global setup in; without this it would run what was last built.
  environments: { __vitest__: { resolve: { conditions, externalConditions: ["source", "node", "module-sync"] } } },
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts", "examples/**/*.test.ts"],
    // These have a configuration of their own, so that `npm test` needs no browser.
    exclude: [...configDefaults.exclude, "test/browser/**"],
    globalSetup: ["test/support/postgresCluster.ts"],
    setupFiles: ["test/support/describedAnswers.ts"],
    pool: "forks",
    maxWorkers: 2,
    // Not how long a test takes, but when it hangs: a machine may be busy with other things.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
