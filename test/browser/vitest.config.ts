/**
 * The tests that need a browser, in a separate project so that the others need none:
 * `CHROMIUM=$(.ci/chromium) npx vitest run --config test/browser/vitest.config.ts`.
 */
import { fileURLToPath } from "node:url"
import { defineConfig, mergeConfig } from "vitest/config"
import { common } from "../../vitest.config.ts"

export default mergeConfig(
  common,
  defineConfig({
    root: fileURLToPath(new URL("../../", import.meta.url)),
    test: {
      include: ["test/browser/**/*.test.ts"],
      maxWorkers: 3,
    },
  }),
)
