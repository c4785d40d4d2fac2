import { jsonTree } from "@data-cabinet/console/html/JsonTree"
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
  assert.include(jsonTree(long).text.replaceAll(/<\/?bdi[^>]*>/g, ""), "x".repeat(200_001))
  assert.notInclude(jsonTree(long).text, "<details")
})
