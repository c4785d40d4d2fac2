/** `npm start` runs the built command, which is one file of packages/cli: the shipped PostgreSQL has to be found from there. */
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { platformPackage } from "@data-cabinet/store-pg/embedded/Binaries"
import { expect, it } from "vitest"

const command = fileURLToPath(new URL("../../packages/cli/dist/cabinet.cjs", import.meta.url))

it("the built command of a clone finds the embedded PostgreSQL from its own location", () => {
  const name = platformPackage(process.platform, process.arch)
  expect(name).toBeDefined()
  expect(createRequire(command).resolve(name!)).toContain(name!)
})
