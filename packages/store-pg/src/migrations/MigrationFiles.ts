/**
 * The scripts of this folder, read from disk. A bundle replaces this module with one that contains their texts
 * (`scripts/bundle/embedFiles.mjs`).
 */
import { readdir, readFile } from "node:fs/promises"

export interface MigrationFile {
  /** Such as `0001_schema.sql`. */
  readonly name: string
  readonly text: string
}

const FOLDER = new URL("../../src/migrations/", import.meta.url)

/** All scripts, ordered by number. */
export const migrationFiles = async (): Promise<ReadonlyArray<MigrationFile>> => {
  const names = (await readdir(FOLDER)).filter((file) => /^\d{4}_.+\.sql$/.test(file)).sort()
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(new URL(name, FOLDER), "utf8") })))
}
