/** Every finding of `cabinet doctor` has a name and a sentence in Russian. */
import { doctorScreen } from "@data-cabinet/console/overview/DoctorScreen"
import { RUSSIAN_FINDINGS } from "@data-cabinet/console/words/RussianFindings"
import { WORDS } from "@data-cabinet/console/words/Words"
import { readdirSync, readFileSync } from "node:fs"
import { assert, it } from "vitest"

const folder = new URL("../../../core/src/diagnostics/", import.meta.url)
const sources = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), "utf8"))
const LEVELS = new Set(["ok", "warn", "bad"])

/** The checks and levels as the sources name them; a level that is decided at run time is not known here. */
const named = sources.flatMap((text) =>
  [...text.matchAll(/\bfinding\(\s*"([^"]+)",\s*"?(\w+)/g)].map(([, check = "", level = ""]) => ({ check, level })),
)

it("every finding of the diagnostics has a Russian sentence for its level", () => {
  assert.isAtLeast(named.length, 55)
  for (const { check, level } of named) {
    const sentences = RUSSIAN_FINDINGS[check] ?? {}
    assert.property(sentences, "name", check)
    if (LEVELS.has(level)) assert.property(sentences, level, `${check} ${level}`)
  }
  for (const sentence of Object.values(RUSSIAN_FINDINGS).flatMap((one) => Object.values(one))) {
    assert.notMatch(sentence, /[A-Za-z]/)
  }
})

it("doctorScreen says a finding in Russian before the message itself", () => {
  const frame = { base: "", language: "ru", words: WORDS.ru, actor: null } as never
  const html = doctorScreen(frame, {
    findings: [{ check: "clock", level: "warn", message: "Skewed <b>." }],
    followers: [],
    cold: null,
    timeZone: "UTC",
  }).main.text
  assert.match(html, /<th[^>]*>часы<\/th><td>Часы [^<]*<small lang="en">Skewed &lt;b&gt;\.<\/small><\/td>/)
})
