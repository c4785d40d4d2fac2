import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { dataDirAt, readNote, writeNote } from "@data-cabinet/store-pg/embedded/DataDir"
import { afterAll, expect, it } from "vitest"

const root = mkdtempSync(join(tmpdir(), "dc-note-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

it("writeNote writes nothing when the note stays the same, whatever the order of its members", () => {
  const dir = dataDirAt(root)
  writeNote(dir, { socketDir: "/tmp/s", bootstrapped: true })
  const { ino } = statSync(dir.serverFile)
  writeNote(dir, { bootstrapped: true, socketDir: "/tmp/s" })
  expect(statSync(dir.serverFile).ino).toBe(ino)
  writeNote(dir, { socketDir: "/tmp/other" })
  expect(readNote(dir)).toEqual({ socketDir: "/tmp/other" })
})

it("writeNote leaves no file behind when it fails", () => {
  const dir = dataDirAt(join(root, "refused"))
  mkdirSync(dir.serverFile, { recursive: true })
  expect(() => writeNote(dir, { port: 1 })).toThrow()
  expect(readdirSync(dir.root)).toEqual(["server.json"])
})
