/** What LibreOffice shows of workbooks: the cells of the first sheet of each, as texts. */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { SheetCell } from "@data-cabinet/core/file/SheetReader"
import { parse } from "csv-parse/sync"

/** Comma, quotes, UTF-8, from line 1; texts quoted, numbers with their digits and not as their formats show them. */
const CSV = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true,false,false"

export interface NamedFile {
  readonly file: string
  readonly bytes: Uint8Array
}

export class LibreOffice {
  readonly #program: string
  readonly #folder = mkdtempSync(join(tmpdir(), "workbooks-"))

  constructor(program: string) {
    this.#program = program
  }

  /** The files converted from these, by their names; none for a workbook that LibreOffice cannot open. */
  convert(files: ReadonlyArray<NamedFile>, to: "csv" | "ods" | "xlsx"): ReadonlyMap<string, Buffer> {
    const from = join(this.#folder, "from")
    const out = join(this.#folder, "out")
    for (const folder of [from, out]) {
      rmSync(folder, { recursive: true, force: true })
      mkdirSync(folder)
    }
    for (const { file, bytes } of files) writeFileSync(join(from, file), bytes)
    const made = (file: string) => join(out, file.replace(/\.\w+$/, `.${to}`))
    // It may crash on a workbook, so the rest follows in another run, without that one.
    for (let left = files; left.length > 0;) {
      this.#run(
        to === "csv" ? CSV : to,
        out,
        left.map(({ file }) => join(from, file)),
      )
      const last = left.findLastIndex(({ file }) => existsSync(made(file)))
      left = left.slice(Math.max(last + 1, 1))
    }
    return new Map(
      files.flatMap(({ file }) => (existsSync(made(file)) ? [[file, readFileSync(made(file))] as const] : [])),
    )
  }

  #run(to: string, out: string, files: ReadonlyArray<string>): void {
    const profile = `-env:UserInstallation=file://${join(this.#folder, "profile")}`
    spawnSync(this.#program, [profile, "--headless", "--convert-to", to, "--outdir", out, ...files], {
      stdio: "ignore",
    })
  }

  /** The cells of each workbook that it opens. */
  cells(files: ReadonlyArray<NamedFile>): ReadonlyMap<string, ReadonlyArray<ReadonlyArray<string>>> {
    const csv = this.convert(files, "csv")
    return new Map([...csv].map(([file, bytes]) => [file, parse(bytes, { relax_column_count: true, bom: true })]))
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

const DIGITS = 14

const numberOf = (shown: string): number => {
  const percent = shown.endsWith("%")
  const value = Number(percent ? shown.slice(0, -1) : shown)
  return Number((percent ? value / 100 : value).toPrecision(DIGITS))
}

/** How it may show a date, a time or a duration: its own forms, or the workbook's. */
const momentsOf = (value: string): ReadonlyArray<string> => {
  const [, year = "", month, day, time] = /^(\d{4})-(\d\d)-(\d\d)(?:T(.*))?$/.exec(value) ?? []
  if (month === undefined) return [value, `${value} AM`, `${value} PM`, value.slice(0, -3)]
  const days = [
    `${year}-${month}-${day}`,
    `${month}/${day}/${year}`,
    `${day}/${month}/${year}`,
    `${month}/${day}/${year.slice(2)}`,
  ]
  return time === undefined ? days : days.map((one) => `${one} ${time}`)
}

/** Whether it shows what we read; it shows 15 digits. */
export const isShown = (read: SheetCell, shown: string): boolean => {
  if (read === null || read === "") return shown === ""
  if (typeof read === "boolean") return shown === (read ? "TRUE" : "FALSE") || shown === (read ? "1" : "0")
  // It writes a boolean of XLSX into ODS as a formula with a number.
  if (shown === "TRUE" || shown === "FALSE") return read === (shown === "TRUE" ? 1 : 0)
  if (typeof read === "string") return shown === read || momentsOf(read).includes(shown)
  const value = typeof read === "number" ? read : Number(read.digits)
  return shown !== "" && numberOf(shown) === Number(value.toPrecision(DIGITS))
}
