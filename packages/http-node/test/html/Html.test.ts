import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { escapeHtml, markup } from "../../src/html/Html.ts"

it("markup escapes a value when it stands in text or in an attribute", () => {
  const wicked = `"><script>alert('&')</script>`
  assert.strictEqual(
    markup`<a title="${wicked}">${wicked}</a>`.text,
    '<a title="&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;">' +
      "&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;</a>",
  )
})

it("markup inserts the result of markup unescaped", () => {
  assert.strictEqual(markup`<p>${markup`<b>${"<"}</b>`}${null}${7}</p>`.text, "<p><b>&lt;</b>7</p>")
})

it.prop("escapeHtml leaves no character that HTML reads as its own", [Schema.String], ([text]) => {
  const escaped = escapeHtml(`${text}<>"'&${text}`)
  assert.notMatch(escaped.replaceAll(/&(amp|lt|gt|quot|#39);/g, ""), /[<>"'&]/)
})
