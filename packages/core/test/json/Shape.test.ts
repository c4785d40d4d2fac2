/** Shapes: one declaration gives an object's JSON, its schema and its component. */
import * as Shape from "@data-cabinet/core/json/Shape"
import { assert, it } from "@effect/vitest"

interface Part {
  readonly partNumber: number
}

interface Thing {
  readonly id: number
  readonly everyDay: boolean
  readonly state: "on" | "off" | null
  readonly part: Part | null
  readonly parts: ReadonlyArray<Part>
  readonly note?: string
}

const part = Shape.named("Part", Shape.object<Part>("A part.", { partNumber: Shape.whole() }))
const thing = Shape.object<Thing>("A thing.", {
  id: Shape.id("Its id."),
  everyDay: Shape.flag("Whether it is."),
  state: Shape.orNull(Shape.oneOf(["on", "off"])),
  part: Shape.orNull(part),
  parts: Shape.list(part, "Its parts."),
  note: Shape.optional(Shape.text("A note.")),
})
const THING: Thing = { id: 1, everyDay: true, state: null, part: null, parts: [{ partNumber: 2 }] }

it("object writes declared members in their order, and no others", () => {
  const withSecret = { secret: "s", ...THING, part: { partNumber: 3, secret: "s" } }
  assert.strictEqual(
    JSON.stringify(thing.json(withSecret)),
    `{"id":1,"every_day":true,"state":null,"part":{"part_number":3},"parts":[{"part_number":2}]}`,
  )
  assert.deepStrictEqual(Object.keys(thing.json({ ...THING, note: "n" })).at(-1), "note")
})

it("object requires all members but the optional ones", () => {
  assert.deepStrictEqual(thing.schema["required"], ["id", "every_day", "state", "part", "parts"])
  assert.deepStrictEqual(Object.keys(thing.schema["properties"] as object).at(-1), "note")
})

it("orNull allows null in a type, in a list of texts and beside a component", () => {
  const of = (name: string) => (thing.schema["properties"] as { readonly [name: string]: unknown })[name]
  assert.deepStrictEqual(of("state"), { enum: ["on", "off", null] })
  assert.deepStrictEqual(of("part"), { oneOf: [part.schema, { type: "null" }] })
  assert.deepStrictEqual(Shape.orNull(Shape.text("A text.")).schema, {
    type: ["string", "null"],
    description: "A text.",
  })
})

it("named refers to its component, which outer shapes hand on", () => {
  assert.deepStrictEqual(part.schema, { $ref: "#/components/schemas/Part" })
  assert.deepStrictEqual(Object.keys(thing.components), ["Part"])
  const outer = Shape.named("Thing", thing)
  assert.deepStrictEqual(Object.keys(outer.components), ["Part", "Thing"])
})

it("ofRow takes the declared members from their columns", () => {
  const row = { id: 1, every_day: true, state: "on", part: null, parts: [], note: "n", secret: "s" }
  assert.deepStrictEqual(thing.ofRow(row), { id: 1, everyDay: true, state: "on", part: null, parts: [], note: "n" })
})

it("object does not compile without one of the type's members, or with one too many", () => {
  // @ts-expect-error partNumber is missing
  Shape.object<Part>("A part.", {})
  // @ts-expect-error a part has no color
  Shape.object<Part>("A part.", { partNumber: Shape.whole(), color: Shape.text() })
  // @ts-expect-error a number is no text
  Shape.object<Part>("A part.", { partNumber: Shape.text() })
})
