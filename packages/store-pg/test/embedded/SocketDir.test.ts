import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fits, makeSocketDir } from "@data-cabinet/store-pg/embedded/SocketDir"
import { expect, it } from "vitest"

it("makeSocketDir creates a private directory and skips a place whose path is too long", () => {
  const short = mkdtempSync(join(tmpdir(), "dc-s-"))
  const deep = join(short, "d".repeat(100))
  const dir = makeSocketDir([deep, short])
  expect(dirname(dir)).toBe(short)
  expect(statSync(dir).mode & 0o777).toBe(0o700)
  expect(fits(dir)).toBe(true)
  expect(fits(deep)).toBe(false)
  rmSync(short, { recursive: true })
})

it("makeSocketDir says what to do when no place is suitable", () => {
  expect(() => makeSocketDir([`/tmp/${"d".repeat(120)}`])).toThrow(/TMPDIR/u)
})
