import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { tryLock } from "@data-cabinet/store-pg/embedded/DataDirLock"
import { afterAll, expect, it } from "vitest"

const dir = mkdtempSync(join(tmpdir(), "dc-lock-"))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const modeOf = (file: string) => statSync(file).mode & 0o777

it("tryLock keeps its file from other users, also one of an earlier version", () => {
  const made = join(dir, "made.lock")
  tryLock(made, "shared")!.release()
  // Windows has no such modes.
  if (process.platform === "win32") return
  expect(modeOf(made)).toBe(0o600)
  const earlier = join(dir, "earlier.lock")
  writeFileSync(earlier, "", { mode: 0o644 })
  tryLock(earlier, "alone")!.release()
  expect(modeOf(earlier)).toBe(0o600)
})

it("tryLock leaves a lock that this process holds", () => {
  const file = join(dir, "held.lock")
  const held = tryLock(file, "alone")!
  expect(tryLock(file, "shared")).toBeUndefined()
  expect(tryLock(file, "alone")).toBeUndefined()
  held.release()
  const shared = tryLock(file, "shared")!
  expect(tryLock(file, "alone")).toBeUndefined()
  shared.release()
})

it("tryLock needs no disk space if its file exists", () => {
  const within = mkdtempSync(join(dir, "room-"))
  const held = tryLock(join(within, "held.lock"), "alone")!
  // A journal next to the file would be the first thing written.
  expect(readdirSync(within)).toEqual(["held.lock"])
  expect(statSync(join(within, "held.lock")).size).toBe(0)
  held.release()
})
