import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isAlive, isServerOf, readPostmasterPid } from "@data-cabinet/store-pg/embedded/PostmasterPid"
import { afterEach, beforeEach, expect, it } from "vitest"

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "dc-pid-"))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const write = (text: string) => writeFileSync(join(dir, "postmaster.pid"), text)

it("readPostmasterPid reads every line of a running server's file", () => {
  write("123\n/data\n1700000000\n5433\n/run/pg\n\n  42 7\nready   \n")
  expect(readPostmasterPid(dir)).toEqual({
    pid: 123,
    dataDir: "/data",
    port: 5433,
    socketDir: "/run/pg",
    host: "",
    status: "ready",
  })
})

it.each(["", "123", "123\n/data\n1\n", "-123\n/data\n1\n5432\n/s\n\n"])(
  "readPostmasterPid returns nothing for an incomplete file or one that is no server's: %j",
  (text) => {
    write(text)
    expect(readPostmasterPid(dir)).toBeUndefined()
  },
)

it("isServerOf is false for a live process that is not the directory's server", async () => {
  write(`${process.pid}\n${dir}\n1\n5432\n${dir}\n\n\nready\n`)
  expect(isAlive(process.pid)).toBe(true)
  expect(await isServerOf(dir, readPostmasterPid(dir)!)).toBe(false)
})
