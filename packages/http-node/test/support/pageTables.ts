/** Tables in a page of docs/ that are generated from the code: `vitest run -u` writes them, and leaves the prose as it is. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, expect } from "vitest"

/** `tables`: for the head of each table, with its line of dashes, the rows that belong below it. */
export const expectTables = async (name: string, tables: Readonly<Record<string, string>>): Promise<void> => {
  const path = fileURLToPath(new URL(`../../../../docs/${name}`, import.meta.url))
  let page = readFileSync(path, "utf8")
  for (const [head, rows] of Object.entries(tables)) {
    const [before, after, ...more] = page.split(head)
    assert.isTrue(after !== undefined && more.length === 0, `one table has the head ${head}`)
    page = before + head + rows + after!.replace(/^(?:\|.*\n)*/, "")
  }
  await expect(page).toMatchFileSnapshot(path)
}
