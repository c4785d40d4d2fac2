import { jsonTree, treeRoom } from "@data-cabinet/console/html/JsonTree"
import { assert, it } from "vitest"

it("jsonTree keeps every digit and the order of keys, and escapes what it shows", () => {
  const { text } = jsonTree('{"7":1e400,"a<b>":["</script>",12345678901234567890.10]}')
  for (const part of [">1e400<", "a&lt;b&gt;", "&lt;/script&gt;", ">12345678901234567890.10<"])
    assert.include(text, part)
  assert.isBelow(text.indexOf("1e400"), text.indexOf("a&lt;b"))
})

it("jsonTree leaves nothing out where it stops, by depth, by items or by length", () => {
  assert.include(jsonTree(`${"[".repeat(40)}7${"]".repeat(40)}`).text, "7")
  assert.include(jsonTree(`[${"1,".repeat(3_000)}7]`).text, ",7]")
  const long = `["${"x".repeat(200_001)}"]`
  assert.include(jsonTree(long).text.replaceAll(/<\/?(?:bdi|span)[^>]*>/g, ""), "x".repeat(200_001))
  assert.notInclude(jsonTree(long).text, "<details")
})

it("jsonTree shows a long key in pieces, as a long value", () => {
  const long = "x".repeat(2_100)
  for (const json of [`{"a":{"${long}":1}}`, `{"a":"${long}"}`]) assert.include(jsonTree(json).text, "</bdi><bdi")
})

it("jsonTree shows the text unchanged where the trees of a screen would have too many values", () => {
  const text = `{"a":[${"[1,2,3],".repeat(600)}0]}`
  const room = treeRoom()
  const shown = [1, 2, 3].map(() => jsonTree(text, room).text)
  assert.deepStrictEqual(
    shown.map((html) => html.startsWith('<div class="tree')),
    [true, true, false],
  )
  assert.include(shown[2]!.replaceAll(/<\/?bdi[^>]*>/g, ""), text.replaceAll('"', "&quot;"))
})
