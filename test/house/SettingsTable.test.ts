/** docs/operations.md lists every setting, with the variable, flag, default and words of the code. */
import { SETTINGS } from "data-cabinet/settings/Settings"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "vitest"

const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "operations.md"), "utf8")

/** The rows of the table of all settings, without its head. */
const listed = page
  .slice(page.indexOf("### Every setting"))
  .split("\n\n")
  .find((block) => block.startsWith("| variable | flag |"))
  ?.split("\n")
  .slice(2)

it("docs/operations.md has a row for every setting, in the order of --help", () => {
  const expected = Object.values(SETTINGS).map(({ env, flag, fallback, about, secret }) => {
    const byFlag = secret === true ? "" : `\`--${flag}\``
    const byDefault = fallback === null ? "" : fallback === "" ? "none" : `\`${fallback}\``
    return `| ${[`\`${env}\``, byFlag, byDefault, about.replaceAll("|", "\\|")].join(" | ")} |`.replaceAll(
      / {2,}/g,
      " ",
    )
  })
  assert.isAbove(expected.length, 40)
  assert.deepStrictEqual(listed, expected)
})
