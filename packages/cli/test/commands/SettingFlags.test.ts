/** The flag of a document reads the file that it names, and `none` removes the document. */
import { readSettings, type SettingInput } from "data-cabinet/commands/SettingFlags"
import { SOURCE_SETTINGS, type SourceSettings } from "@data-cabinet/core/source/SourceSettings"
import { Effect, Option } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"

const read = (schema: string) => {
  const flags = Object.fromEntries(SOURCE_SETTINGS.all.map(({ key }) => [key, Option.none()]))
  const input = { ...flags, schema: Option.some(schema) } as unknown as SettingInput<SourceSettings>
  return Effect.runPromise(readSettings(SOURCE_SETTINGS, input))
}

it("readSettings reads a schema from its file, and removes it by none", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cabinet-schema-"))
  try {
    const file = join(folder, "orders.schema.json")
    writeFileSync(file, '\uFEFF{"type":"object"}')
    expect(await read(file)).toEqual({ schema: '{"type":"object"}' })
    expect(await read("none")).toEqual({ schema: null })
    await expect(read(join(folder, "missing.json"))).rejects.toThrow("--schema")
  } finally {
    rmSync(folder, { recursive: true })
  }
})
