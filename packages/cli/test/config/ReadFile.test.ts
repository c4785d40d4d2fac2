/** What a file may say, and where it is said to be wrong. */
import { readFileSync } from "node:fs"
import { readFileText } from "data-cabinet/config/ReadFile"
import { fileJsonSchema } from "data-cabinet/config/FileSchema"
import { expect, it } from "vitest"

const refused = (text: string): string => {
  try {
    return JSON.stringify(readFileText(text, "f.yaml").file)
  } catch (error) {
    return (error as Error).message
  }
}

it("a file is YAML 1.2 or JSON: no and on are texts, and dates and long numbers are not converted", () => {
  const yaml = "sources:\n  - name: no\n    honeypot: on\n    inbox: on\n    inbox_name: 2026-01-01\n"
  expect(readFileText(yaml, "f").file).toEqual({
    sources: [{ name: "no", honeypot: "on", inbox: "on", inbox_name: "2026-01-01" }],
  })
  expect(readFileText('\uFEFF{"sources": [{"name": "A", "rate": 5}]}', "f").file).toEqual({
    sources: [{ name: "A", rate: 5 }],
  })
  expect(readFileText("# nothing\n", "f").file).toEqual({})
  expect(
    refused("addresses:\n  - url: https://a.example\n    filters: [{fc: n, fo: eq, fv: 12345678901234567890}]\n"),
  ).toBe("Nothing was changed:\nf.yaml:3:31: addresses[0].filters[0].fv: Expected string.")
})

it("every wrong key and value is refused at once, each with its line, column and the likely word", () => {
  expect(
    refused("sources:\n  - name: A\n    encodng: utf-8\n    rate: 1.5\n  - nam: B\naddress: []\n").split("\n"),
  ).toEqual([
    "Nothing was changed:",
    "f.yaml:3:5: sources[0].encodng: unknown. Did you mean encoding?",
    "f.yaml:4:5: sources[0].rate: Expected an integer.",
    "f.yaml:5:5: sources[1].nam: unknown. Did you mean name?",
    "f.yaml:5:5: sources[1].name: is missing.",
    "f.yaml:6:1: address: unknown. Did you mean addresses?",
  ])
  expect(refused("people:\n  - {name: Ada, role: owner, zzzzzzzz: 1}\n")).toContain(
    "f.yaml:2:30: people[0].zzzzzzzz: unknown; there may be name, role.",
  )
})

it.for([
  ["sources:\n  - name: A\n    name: B\n", /^f\.yaml:3:5: Map keys must be unique\. Nothing was changed\.$/],
  ["sources:\n  - name: [A\n", /^f\.yaml:3:1: /],
  ["sources: &a [*a]\n", /^Nothing was changed:\nf\.yaml:1:14: /],
  ["sources:\n  - !!js/function name: A\n", /^f\.yaml:2:5: Unresolved tag: .* Nothing was changed\.$/],
  ["a: 1\n---\nb: 2\n", /^f\.yaml:\d+:\d+: .*documents/],
  ["- sources\n", /^Nothing was changed:\nf\.yaml:1:1: Expected object/],
] as const)("a file that YAML cannot say once and clearly is refused: %j", ([text, message]) => {
  expect(refused(text)).toMatch(message)
})

it("aliases that grow beyond bounds are refused before they grow", () => {
  const lines = Array.from(
    { length: 30 },
    (_, n) => `a${n + 1}: &a${n + 1} [${"*a0,".repeat(9).replaceAll("a0", `a${n}`)}]`,
  )
  expect(refused(`a0: &a0 [x]\n${lines.join("\n")}\n`)).toMatch(/^f\.yaml: Excessive alias count/)
})

it("a secret in the file is refused without being repeated", () => {
  const message = refused("sources:\n  - name: A\n    verify: {recipe: github, secret: hush-hush}\n")
  expect(message).toMatch(/^Nothing was changed:\nf\.yaml:3:30: sources\[0\]\.verify\.secret: .*env:NAME or file:PATH/)
  expect(message).not.toContain("hush")
})

it("the published JSON Schema is that of the file", () => {
  const file = new URL("../../../../docs/cabinet.schema.json", import.meta.url)
  // To write it again: the file beside `cabinet export-config --to FILE`.
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(JSON.parse(JSON.stringify(fileJsonSchema())))
})
