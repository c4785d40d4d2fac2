/** The parts of one archive. Their names match as in spreadsheets: ignoring case, and percent-encoded. */
import { SheetFault } from "./SheetFault.ts"
import { partText } from "./PartText.ts"
import { megabytes, type SheetLimits, unpackedLimit } from "./SheetLimits.ts"
import { type XmlHandler, XmlScanner } from "./XmlScanner.ts"
import { XmlFault } from "./XmlText.ts"
import type { ZipEntry } from "./ZipArchive.ts"

const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

const keyOf = (name: string): string => name.toLowerCase()

export class Parts {
  readonly #archive: Uint8Array
  readonly #limits: SheetLimits
  /** The bytes of all parts read so far. */
  #unpacked = 0
  readonly #entries = new Map<string, ZipEntry>()

  constructor(archive: Uint8Array, entries: ReadonlyArray<ZipEntry>, limits: SheetLimits) {
    this.#archive = archive
    this.#limits = limits
    for (const entry of entries) {
      const key = keyOf(entry.name)
      if (entry.name.endsWith("/")) continue
      if (this.#entries.has(key)) throw new SheetFault(`it has the part ${entry.name.slice(0, 100)} twice`)
      this.#entries.set(key, entry)
    }
  }

  get names(): ReadonlyArray<string> {
    return [...this.#entries.values()].map(({ name }) => name)
  }

  find(name: string): ZipEntry | undefined {
    return this.#entries.get(keyOf(name)) ?? this.#entries.get(keyOf(decoded(name)))
  }

  /** Reads a part that is held in memory, so its size is limited. */
  async readWhole(entry: ZipEntry, handler: XmlHandler): Promise<void> {
    const { partBytes } = this.#limits
    if (entry.unpacked > partBytes) {
      throw new SheetFault(
        `its part ${entry.name.slice(0, 100)} declares an unpacked size of ${megabytes(entry.unpacked)}; at most ${megabytes(partBytes)} are accepted; save the workbook as CSV, which has no such limit`,
        "too_large",
      )
    }
    for await (const _ of this.scan(entry, handler));
  }

  /** Reads a part; yields after each piece of it. */
  async *scan(entry: ZipEntry, handler: XmlHandler): AsyncGenerator<void> {
    this.#count(entry)
    const scanner = new XmlScanner(handler)
    const placed = (step: () => void) => {
      try {
        step()
      } catch (cause) {
        if (!(cause instanceof XmlFault)) throw cause
        const where = `its part ${entry.name.slice(0, 100)} is not well-formed XML at character ${scanner.position}`
        throw new SheetFault(`${where}: ${cause.message}`)
      }
    }
    for await (const piece of partText(this.#archive, entry)) {
      placed(() => scanner.push(piece))
      yield
    }
    placed(() => scanner.end())
  }

  /** The beginning of a small part, unchanged. */
  async text(entry: ZipEntry, characters: number): Promise<string> {
    this.#count(entry)
    let text = ""
    for await (const piece of partText(this.#archive, entry)) {
      text += piece
      if (text.length >= characters) break
    }
    return text.slice(0, characters)
  }

  /** The directory states the size of a part; a larger part is refused. */
  #count(entry: ZipEntry): void {
    this.#unpacked += entry.unpacked
    const limit = unpackedLimit(this.#archive.length, this.#limits)
    if (this.#unpacked <= limit) return
    throw new SheetFault(
      `its parts declare an unpacked size of ${megabytes(this.#unpacked)}; at most ${megabytes(limit)} are read of an archive of this size; save the workbook as CSV`,
      "too_large",
    )
  }
}
