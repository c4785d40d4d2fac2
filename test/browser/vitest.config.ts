/**
 * The tests that need a browser, apart from the others so that those need none:
 * `CHROMIUM=$(.ci/chromium) npx vitest run --config test/browser/vitest.config.ts`.
 */
import { fileURLToPath } from "node:url"
import { defineConfig, mergeConfig } from "vitest/config"
import suite from "../../vitest.config.ts"

const { include: _include, exclude: _exclude, ...test } = suite.test ?? {}

export default mergeConfig(
  { ...suite, test },
  defineConfig({
    root: fileURLToPath(new URL("../../", import.meta.url)),
    test: { include: ["test/browser/**/*.test.ts"], maxWorkers: 1 },
  }),
)
