import { browserName } from "@data-cabinet/console/person/SessionListScreen"
import { assert, it } from "vitest"

it("browserName names a browser and its system, or shows the beginning of the user agent", () => {
  const edge =
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0"
  assert.strictEqual(browserName(edge), "Edge, Windows")
  assert.strictEqual(browserName("curl/8.5.0"), "curl")
  assert.strictEqual(browserName("x".repeat(500)), "x".repeat(60))
})
