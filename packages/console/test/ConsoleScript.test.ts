/**
 * The script for browsers is committed as bundled from `src/browser`, so that serving it needs no build. To update it:
 * `vitest run packages/console/test/ConsoleScript.test.ts -u`. Its size has a budget.
 */
import { brotliCompressSync } from "node:zlib"
import { fileURLToPath } from "node:url"
import { ASSETS } from "@data-cabinet/console/assets/Assets"
import { rolldown } from "rolldown"
import { assert, expect, it } from "vitest"

const input = fileURLToPath(new URL("../src/browser/Console.ts", import.meta.url))

it("the committed script is the bundle of its sources", async () => {
  const bundle = await rolldown({ input, platform: "browser", tsconfig: false })
  const { output } = await bundle.generate({ format: "esm", minify: true, comments: false })
  await bundle.close()
  assert.deepStrictEqual(output[0].imports, [])
  const module = `/** Bundled from src/browser by test/ConsoleScript.test.ts. */
export const CONSOLE_SCRIPT = ${JSON.stringify(output[0].code)}
`
  await expect(module).toMatchFileSnapshot("../src/generated/ConsoleScript.ts")
})

it("script and style are within their budgets: 14 KB and 8 KB as sent", () => {
  const sent = (text: string) => brotliCompressSync(text).length
  assert.isBelow(sent(ASSETS["console.js"].text), 14 * 1024)
  assert.isBelow(sent(ASSETS["console.css"].text), 8 * 1024)
})
