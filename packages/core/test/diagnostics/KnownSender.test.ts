/** What a source lacks for the well-known sender of its latest request. */
import { senderLacking } from "@data-cabinet/core/diagnostics/KnownSender"
import { settingsFrom } from "@data-cabinet/core/source/Providers"
import { DEFAULT_SETTINGS } from "@data-cabinet/core/source/SourceSettings"
import { expect, it } from "vitest"
import { SOURCE } from "../source/exampleSource.ts"

const GITHUB = "GitHub-Hookshot/044aadd"
const verify = { recipe: "github", mode: "reject", hmac: null, keepsOldSecret: false } as const
const plain = SOURCE
const kept = { ...plain, ...settingsFrom({ from: "github" as const }, DEFAULT_SETTINGS) }

it.each([
  ["drops fields of an unverified sender", GITHUB, plain, { dropsFields: true, isUnverified: true }],
  ["drops fields of a verified sender", GITHUB, { ...plain, verify }, { dropsFields: true, isUnverified: false }],
  ["keeps the fields of an unverified sender", GITHUB, kept, { dropsFields: false, isUnverified: true }],
])("senderLacking says that a source %s", (_, agent, source, lacking) => {
  expect(senderLacking(agent, source)).toEqual({ provider: "github", ...lacking })
})

it.each([
  ["lacks nothing", GITHUB, { ...kept, verify }],
  ["has an unknown sender", "curl/8.5.0", plain],
  ["has a sender without a name", null, plain],
])("senderLacking says nothing of a source that %s", (_, agent, source) => {
  expect(senderLacking(agent, source)).toBeNull()
})
