import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { totalmem, tmpdir } from "node:os"
import { join } from "node:path"
import { machineMemory, memorySettings } from "@data-cabinet/store-pg/embedded/MachineMemory"
import { afterAll, expect, it, vi } from "vitest"

const GB = 1024 ** 3
const pgdata = mkdtempSync(join(tmpdir(), "dc-m-"))
afterAll(() => rmSync(pgdata, { recursive: true }))
/** As initdb writes it. */
const USUAL = "shared_buffers = 128MB\t\t\t# min 128kB\n#maintenance_work_mem = 64MB\t\t# min 64kB\n"

const settings = (bytes: number, conf: string, auto = "") => {
  writeFileSync(join(pgdata, "postgresql.conf"), conf)
  writeFileSync(join(pgdata, "postgresql.auto.conf"), auto)
  return memorySettings(pgdata, bytes)
}

it("machineMemory is the control group's limit if there is one, and never more than the machine has", () => {
  const group = vi.spyOn(process, "constrainedMemory")
  const seen = (limit: number) => {
    group.mockReturnValue(limit)
    return machineMemory()
  }
  expect(seen(GB / 2)).toBe(GB / 2)
  expect(seen(0)).toBe(totalmem())
  // What a control group without a limit says.
  expect(seen(2 ** 63)).toBe(totalmem())
  group.mockRestore()
})

it("memorySettings lowers PostgreSQL's settings where there is little memory, and never below what it needs", () => {
  expect(settings(GB / 2, USUAL)).toEqual({ shared_buffers: "32MB", maintenance_work_mem: "16MB" })
  expect(settings(GB / 16, USUAL)).toEqual({ shared_buffers: "16MB", maintenance_work_mem: "8MB" })
  expect(settings(2 * GB, USUAL)).toEqual({})
})

it.each([
  ["postgresql.conf", `${USUAL}shared_buffers = '64MB'\nmaintenance_work_mem=1GB # mine\n`, ""],
  ["ALTER SYSTEM", USUAL, "shared_buffers = '8192'\nmaintenance_work_mem = '32MB'\n"],
])("memorySettings leaves what an operator has set by %s", (_, conf, auto) => {
  expect(settings(GB / 2, conf, auto)).toEqual({})
})
