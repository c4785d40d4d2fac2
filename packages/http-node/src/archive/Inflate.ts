/**
 * Unpacks a stream of compressed bytes in steps so small that none of them can fill the memory. The data must end where the
 * input ends: truncated or damaged data, and other bytes after the end, are a fault at a position.
 */
import { createGunzip, createInflateRaw } from "node:zlib"
import { ArchiveFault } from "./ArchiveFault.ts"

/** Compressed bytes given to zlib at a time. They unpack to at most about 1,032 times as many. */
const STEP_BYTES = 8_192
const PIECE_BYTES = 65_536

export type Coding = "gzip" | "deflate"

/** One decoder, fed step by step. */
class Steps {
  readonly #codec
  #pieces: Array<Uint8Array> = []
  #given = 0
  #isEnded = false
  #fault: Error | undefined
  #settle = () => {}

  constructor(coding: Coding) {
    const create = coding === "gzip" ? createGunzip : createInflateRaw
    this.#codec = create({ chunkSize: PIECE_BYTES })
    this.#codec.on("data", (piece: Uint8Array) => this.#pieces.push(piece))
    this.#codec.on("end", () => {
      this.#isEnded = true
      this.#settle()
    })
    this.#codec.on("error", (fault: Error) => {
      this.#fault = fault
      this.#settle()
    })
  }

  /** Whether the data have ended, and how many bytes they had. */
  get isEnded(): boolean {
    return this.#isEnded
  }
  get read(): number {
    return this.#codec.bytesWritten
  }

  /** Returns what the bytes unpack to; undefined ends the input. */
  async step(bytes: Uint8Array | undefined): Promise<ReadonlyArray<Uint8Array>> {
    await new Promise<void>((resolve) => {
      this.#settle = resolve
      if (bytes === undefined) this.#codec.end()
      else this.#codec.write(bytes, () => resolve())
    })
    this.#given += bytes?.length ?? 0
    if (this.#fault !== undefined) throw this.#worded(this.#fault)
    const pieces = this.#pieces
    this.#pieces = []
    return pieces
  }

  close(): void {
    this.#codec.close()
  }

  #worded(fault: Error): ArchiveFault {
    const code = "code" in fault ? fault.code : undefined
    if (code === "Z_BUF_ERROR") return new ArchiveFault(`it is cut off after byte ${this.#given}`)
    return new ArchiveFault(`it is damaged after byte ${this.read} (${fault.message})`)
  }
}

const firstOther = (bytes: Uint8Array, from: number): number => {
  for (let at = from; at < bytes.length; at++) if (bytes[at] !== 0) return at
  return -1
}

/** Zero bytes after the end of a gzip archive are padding. */
export const inflate = async function* (packed: AsyncIterable<Uint8Array>, coding: Coding): AsyncGenerator<Uint8Array> {
  const steps = new Steps(coding)
  let given = 0
  try {
    for await (const chunk of packed) {
      for (let from = 0; from < chunk.length; from += STEP_BYTES) {
        const bytes = chunk.subarray(from, from + STEP_BYTES)
        if (!steps.isEnded) yield* await steps.step(bytes)
        if (steps.isEnded) {
          const other = firstOther(bytes, Math.max(0, steps.read - given))
          if (other !== -1) throw new ArchiveFault(`other data follow its end, at byte ${given + other}`)
        }
        given += bytes.length
      }
    }
    if (!steps.isEnded) yield* await steps.step(undefined)
  } finally {
    steps.close()
  }
}
