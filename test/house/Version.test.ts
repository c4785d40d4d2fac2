/** One version for all packages, and the constant that the command, the metrics and the descriptions print. */
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { VERSION } from "@data-cabinet/core/diagnostics/Version"
import { expect, it } from "vitest"

const packages = fileURLToPath(new URL("../../packages/", import.meta.url))

it.each(readdirSync(packages))("package %s has the version that is printed", (name) => {
  const { version } = JSON.parse(readFileSync(`${packages}${name}/package.json`, "utf8")) as { version: string }
  expect(version).toBe(VERSION)
})
