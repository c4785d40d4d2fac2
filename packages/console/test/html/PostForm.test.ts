import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { postForm } from "@data-cabinet/console/html/PostForm"
import { assert, it } from "vitest"

it("postForm gets a new number each time it is shown", () => {
  const shown = Array.from({ length: 100 }, () => postForm({ path: "/console/keys", body: "<b>" }).text)
  assert.strictEqual(new Set(shown).size, 100)
  for (const text of shown) {
    assert.match(
      text,
      /^<form method="post" action="\/console\/keys"><input type="hidden" name="form_id" value="[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}" autocomplete="off">&lt;b&gt;<\/form>$/,
    )
  }
})

/** Exceptions: a form for other programs, forms without a session, and one whose file is recognized by its content. */
const OTHERS = ["file/FileScreen.ts", "html/PostForm.ts", "session/SessionForms.ts", "source/Snippets.ts"]

it("every form that changes something is a postForm", () => {
  const src = fileURLToPath(new URL("../../src/", import.meta.url))
  const byHand = globSync("**/*.ts", { cwd: src }).filter((file) =>
    /<form[^>]*method="post"/.test(readFileSync(src + file, "utf8")),
  )
  assert.deepStrictEqual(byHand.toSorted(), OTHERS)
})
