/**
 * The tests that need a browser, in a separate project so that the others need none:
 * `CHROMIUM=$(.ci/chromium) npx vitest run --config test/browser/vitest.config.ts`.
 */
import { fileURLToPath } from "node:url"
import { defineConfig, mergeConfig } from "vitest/config"
import { common } from "../../vitest.config.ts"
import { EVERY_CONSUMER } from "../support/everyConsumer.ts"

export default mergeConfig(
  common,
  defineConfig({
    root: fileURLToPath(new URL("../../", import.meta.url)),
    test: {
      include: ["test/browser/**/*.test.ts"],
      // Next takes minutes to install and build, so only the trials do.
      exclude: EVERY_CONSUMER ? [] : ["test/browser/nextApp.test.ts"],
      maxWorkers: 3,
    },
  }),
)
