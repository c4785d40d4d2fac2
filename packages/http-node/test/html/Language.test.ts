import { assert, it } from "@effect/vitest"
import { acceptsHtml, chooseLanguage } from "../../src/html/Language.ts"

it.each([
  [undefined, "en"],
  ["", "en"],
  ["ru", "ru"],
  ["ru-RU,ru;q=0.9,en-US;q=0.8,en;q=0.7", "ru"],
  ["en-GB,en;q=0.9,ru;q=0.8", "en"],
  ["de,fr;q=0.9", "en"],
  ["de,ru;q=0.3", "ru"],
  ["RU-by", "ru"],
  ["ru;q=0, en;q=0.1", "en"],
  ["ru;q=0", "en"],
  ["en;q=0.5, ru;q=0.9", "ru"],
  [";;;,q=,ru;q=zebra", "en"],
] as const)("chooseLanguage(%j) is %s", (header, language) => {
  assert.strictEqual(chooseLanguage(header), language)
})

it.each([
  [undefined, false],
  ["*/*", false],
  ["application/json, text/plain, */*", false],
  ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true],
  ["TEXT/HTML", true],
  ["application/json, text/html;q=0", false],
] as const)("acceptsHtml(%j) is %s", (header, yes) => {
  assert.strictEqual(acceptsHtml(header), yes)
})
