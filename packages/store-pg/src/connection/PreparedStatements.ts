/**
 * The statements that a session has prepared, under names of ours. Bounded: the least recently used one is closed with
 * the next request.
 */
import { PgProtocol } from "@effect/sql-pg"

const MAX_STATEMENTS = 100

export class PreparedStatements {
  readonly #names = new Map<string, string>()
  #toClose: Array<string> = []
  #made = 0

  /** The name under which this text was prepared. */
  nameOf(text: string): string | undefined {
    const name = this.#names.get(text)
    if (name === undefined || this.#names.size < MAX_STATEMENTS) return name
    // Moved to the end, because the first one is closed next.
    this.#names.delete(text)
    this.#names.set(text, name)
    return name
  }

  /** A name for a statement that is about to be prepared; no session has it twice. */
  newName(): string {
    this.#made++
    return `data_cabinet_${this.#made}`
  }

  /** The statement was prepared under this name. */
  add(text: string, name: string): void {
    this.#names.set(text, name)
    if (this.#names.size <= MAX_STATEMENTS) return
    const [oldest] = this.#names.keys()
    if (oldest !== undefined) this.drop(oldest)
  }

  /** The statement is not to be used again. */
  drop(text: string): void {
    const name = this.#names.get(text)
    if (name === undefined) return
    this.#names.delete(text)
    this.#toClose.push(name)
  }

  /** A name whose preparation failed, or may have failed. */
  close(name: string): void {
    this.#toClose.push(name)
  }

  /** The session was reset and has lost its prepared statements. */
  clear(): void {
    this.#names.clear()
    this.#toClose = []
  }

  /** Messages that close unused statements; each gets a response. */
  takeCloses(): ReadonlyArray<Uint8Array> {
    if (this.#toClose.length === 0) return NONE
    const closes = this.#toClose.map((name) => PgProtocol.encodeClose({ target: "statement", name }))
    this.#toClose = []
    return closes
  }
}

const NONE: ReadonlyArray<Uint8Array> = []
