/**
 * The tests that need a browser, apart from the others so that those need none:
 * `CHROMIUM=$(.ci/chromium) npx vitest run --config test/browser/vitest.config.ts`.
 */
import { fileURLToPath } from "node:url"
import { defineConfig, mergeConfig } from "vitest/config"
import { common } from "../../vitest.config.ts"

export default mergeConfig(
  common,
  defineConfig({
    root: fileURLToPath(new URL("../../", import.meta.url)),
    test: { include: ["test/browser/**/*.test.ts"], maxWorkers: 2 },
  }),
)
