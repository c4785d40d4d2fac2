/**
 * The scripts of this folder, as files. A bundle puts a module with their texts in the place of this one
 * (`scripts/bundle/embedFiles.mjs`).
 */
import { readdir, readFile } from "node:fs/promises"

export interface MigrationFile {
  /** Such as `0001_schema.sql`. */
  readonly name: string
  readonly text: string
}

const FOLDER = new URL("../../src/migrations/", import.meta.url)

/** All of them, in the order of their numbers. */
export const migrationFiles = async (): Promise<ReadonlyArray<MigrationFile>> => {
  const names = (await readdir(FOLDER)).filter((file) => /^\d{4}_.+\.sql$/.test(file)).sort()
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(new URL(name, FOLDER), "utf8") })))
}
