import { headerFields, keptParts } from "@data-cabinet/core/intake/KeptHeaders"
import type { KeptSettings } from "@data-cabinet/core/source/Source"
import { expect, it } from "vitest"

const settings = (change: Partial<KeptSettings>): KeptSettings => ({ headers: [], fields: [], query: false, ...change })

const HEADERS = {
  host: "data.example.com",
  "user-agent": "GitHub-Hookshot/1",
  "content-type": "application/json",
  "x-github-event": "push",
  "x-github-delivery": "72d3162e",
  "x-hub-signature-256": "sha256=00",
  cookie: "session=hush",
  "x-api-key": "hush",
  "x-gitlab-token": "hush",
  authorization: "Bearer hush",
  "proxy-authorization": "Basic hush",
}

it("keptParts keeps named headers and those with a given prefix, in any case, in the order of the request", () => {
  expect(keptParts(HEADERS, "a=1", settings({ headers: ["X-GITHUB-*", "x-Hub-Signature-256", "Missing"] }))).toEqual({
    headers: [
      { name: "x-github-event", value: "push" },
      { name: "x-github-delivery", value: "72d3162e" },
      { name: "x-hub-signature-256", value: "sha256=00" },
    ],
    query: null,
  })
})

it("keptParts never keeps a secret, whatever its settings say", () => {
  // No source can get such settings, but a database that was changed by hand may have them.
  const all = settings({ headers: ["*", "Cookie", "X-Api-Key"], fields: ["Authorization", "Proxy-Authorization"] })
  expect(JSON.stringify(keptParts(HEADERS, "", all))).not.toContain("hush")
  expect(headerFields(HEADERS, all)).toEqual(new Map())
})

it("keptParts does not duplicate the headers of every original request, and keeps a header that becomes a field", () => {
  const { headers } = keptParts(
    HEADERS,
    "",
    settings({ headers: ["User-Agent"], fields: ["X-GitHub-Event", "Content-Type"] }),
  )
  expect(headers).toEqual([{ name: "x-github-event", value: "push" }])
})

it("keptParts keeps the query as sent, without characters that PostgreSQL cannot store", () => {
  expect(keptParts({}, "a=%20+\0\ud800&a", settings({ query: true }))).toEqual({ headers: [], query: "a=%20+��&a" })
})

it("headerFields uses the source's spelling of names, and reads UTF-8 without control characters", () => {
  const latin1 = Buffer.from("Заказ").toString("latin1")
  const headers = { ...HEADERS, "x-title": latin1, "x-tabs": "a\tb\0" }
  expect([...headerFields(headers, settings({ fields: ["X-Tabs", "X-GitHub-Event", "x-TITLE", "None"] }))]).toEqual([
    ["X-Tabs", "a\tb�"],
    ["X-GitHub-Event", "push"],
    ["x-TITLE", "Заказ"],
  ])
})

it("headerFields ignores names of prototype properties", () => {
  expect(headerFields({}, settings({ fields: ["constructor", "toString"] }))).toEqual(new Map())
})

it("keptParts keeps a header with exactly the given name, unless its value is a list", () => {
  const headers = { "x-hub": "1", "x-hub-signature": "2", "xx-hub": "3", "set-cookie": ["4"] as unknown as string }
  expect(keptParts(headers, "", settings({ headers: ["X-Hub", "Set-*"] })).headers).toEqual([
    { name: "x-hub", value: "1" },
  ])
})
