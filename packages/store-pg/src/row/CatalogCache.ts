/** Caches catalog objects, each with its catalog version. Bounded, so that requested names cannot exhaust memory. */
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"

export interface CachedTable {
  readonly table: ReadableTable
  readonly catalogVersion: string
}

const MAX_TABLES = 1_000

export class CatalogCache {
  readonly #found = new Map<string, CachedTable>()

  get(schema: string, name: string): CachedTable | undefined {
    return this.#found.get(keyOf(schema, name))
  }

  keep(found: CachedTable): void {
    const { schema, name } = found.table.detail
    this.forget(schema, name)
    this.#found.set(keyOf(schema, name), found)
    const [oldest] = this.#found.keys()
    if (this.#found.size > MAX_TABLES && oldest !== undefined) this.#found.delete(oldest)
  }

  forget(schema: string, name: string): void {
    this.#found.delete(keyOf(schema, name))
  }
}

/** A unique key, because no name contains a zero byte. */
const keyOf = (schema: string, name: string): string => `${schema}\0${name}`
