/** Receivers may be old services, so `data-cabinet/verifyDelivery` loads on a Node that is too old for the rest. */
import { existsSync, realpathSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { signDelivery } from "@data-cabinet/core/delivery/Signature"
import { beforeAll, expect, it } from "vitest"
import { finish, packed, type Packed } from "../support/packed.ts"

let here: Packed
beforeAll(async () => {
  here = await packed()
})

/** Makes this Node look like version 18, which lacks `getBuiltinModule`, on which the rest relies. */
const AS_NODE_18 = `
Object.defineProperty(process.versions, "node", { value: "18.0.0" })
delete process.getBuiltinModule
if (process.getBuiltinModule !== undefined) throw new Error("still there")
`

const secret = "a secret"
const body = '{"n": 1.0}'
const header = () => signDelivery(Buffer.from(body), [secret], Math.floor(Date.now() / 1_000))

const checks = (load: string) =>
  `${load}
  console.log([verifyDelivery, verifyDelivery].map((verify, n) => verify(${JSON.stringify(body)} + " ".repeat(n), process.argv[2], ${JSON.stringify(secret)})).join())
`
const PROGRAMS = {
  "receiver.cjs": checks(`const { verifyDelivery } = require("data-cabinet/verifyDelivery")`),
  "receiver.mjs": checks(`import { verifyDelivery } from "data-cabinet/verifyDelivery"`),
}

/** This Node disguised as an old one, and every other Node on this machine. */
const nodes = (): ReadonlyArray<readonly [command: string, ...words: ReadonlyArray<string>]> => {
  const others = (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "node"))
    .filter((file) => existsSync(file))
    .map((file) => realpathSync(file))
  return [[process.execPath, "--require", "./node18.cjs"], ...[...new Set(others)].map((file) => [file] as const)]
}

it.each(Object.entries(PROGRAMS))(
  "verifyDelivery loads and verifies on Node 18 and later, by %s",
  async (file, program) => {
    writeFileSync(join(here.app, "node18.cjs"), AS_NODE_18)
    writeFileSync(join(here.app, file), program)
    for (const [command, ...words] of nodes()) {
      expect(await finish(command, [...words, file, header()], here.app), command).toBe("true,false\n")
    }
  },
)

it("the library refuses an older Node with a message", async () => {
  writeFileSync(join(here.app, "node18.cjs"), AS_NODE_18)
  const words = ["--require", "./node18.cjs", "--input-type=commonjs", "-e", `require("data-cabinet")`]
  await expect(finish(process.execPath, words, here.app)).rejects.toThrow(/data-cabinet needs Node\.js 22\.19 or newer/)
})
