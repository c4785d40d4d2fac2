import { namesList, NAMES_LIST, pathsIn } from "@data-cabinet/console/integration/KnownPaths"
import { compileTemplate } from "@data-cabinet/core/delivery/BodyTemplate"
import type { JsonObject } from "@data-cabinet/core/json/Json"
import { ownJson } from "@data-cabinet/core/json/ParseJson"
import { Html } from "@data-cabinet/http-node/html/Html"
import { Result } from "effect"
import { assert, expect, it } from "vitest"

const NAMES = ["id", "a.b", 'q"u|o{te}', " edge ", "<b>", "naïve", "__proto__"]

const schemaOf = (names: ReadonlyArray<string>): JsonObject =>
  ownJson(
    JSON.stringify({
      properties: {
        items: { items: { properties: { sku: {} } } },
        ...Object.fromEntries(names.map((name) => [name, { properties: { inner: {} } }])),
      },
    }),
  ) as JsonObject

it("pathsIn lists the names of fields, and places that a template accepts as they are", () => {
  const { names, places } = pathsIn([schemaOf(NAMES), schemaOf(["id"])])
  expect(names).toEqual(["items", ...NAMES])
  expect(places.slice(0, 4)).toEqual([
    "{{payload.items}}",
    "{{payload.items.0.sku}}",
    "{{payload.id}}",
    "{{payload.id.inner}}",
  ])
  expect(places).toContain('{{payload."a.b".inner}}')
  for (const place of places) {
    const compiled = compileTemplate(JSON.stringify({ text: place }), "json")
    assert.isTrue(Result.isSuccess(compiled), place)
  }
})

it("pathsIn is bounded, and namesList escapes what senders chose", () => {
  const many = schemaOf(Array.from({ length: 900 }, (_, n) => `field${n}`))
  expect(pathsIn([many]).places).toHaveLength(200)
  expect(pathsIn([schemaOf(["x".repeat(300)])]).names).toEqual(["items"])
  const made = namesList(pathsIn([schemaOf(["<b>"])]))
  const list = made instanceof Html ? made.text : ""
  expect(list).toContain(`id="${NAMES_LIST}"`)
  expect(list).not.toContain("<b>")
})
