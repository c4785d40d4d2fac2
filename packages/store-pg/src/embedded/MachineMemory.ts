/**
 * The memory of the machine, or of its control group, and what of it the embedded PostgreSQL may take. By its own defaults it
 * keeps 128 MB of buffers that are never given back. On a machine of 512 MB the kernel then ended the server under load; the
 * page cache, which holds the same pages, shrinks instead.
 */
import { readFileSync } from "node:fs"
import { totalmem } from "node:os"
import { join } from "node:path"

const MB = 1_048_576

/** What this process and the processes that it starts may use together, in bytes. */
export const machineMemory = (): number => {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/** The value that initdb writes, the part of the memory that a setting may take, and its least value; all sizes in MB. */
const SHARES = [
  { name: "shared_buffers", usual: 128, part: 16, least: 16 },
  { name: "maintenance_work_mem", usual: 64, part: 32, least: 8 },
]

/** The files of settings that an operator or ALTER SYSTEM writes. */
const FILES = ["postgresql.conf", "postgresql.auto.conf"]

const textOf = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

/** Whether a file of settings has another value than initdb's. */
const isChosen = (text: string, name: string, usual: string): boolean =>
  [...text.matchAll(new RegExp(`^\\s*${name}\\s*(?:=|\\s)\\s*'?([^'#\\s]+)`, "gimu"))].some(
    ([, value]) => value !== usual,
  )

/** Settings below PostgreSQL's usual ones for a machine with so much memory; those that an operator has chosen stay. */
export const memorySettings = (pgdata: string, bytes: number): Readonly<Record<string, string>> => {
  const text = FILES.map((file) => textOf(join(pgdata, file))).join("\n")
  const settings: Record<string, string> = {}
  for (const { name, usual, part, least } of SHARES) {
    const value = Math.max(least, Math.floor(bytes / (part * MB)))
    if (value < usual && !isChosen(text, name, `${usual}MB`)) settings[name] = `${value}MB`
  }
  return settings
}
