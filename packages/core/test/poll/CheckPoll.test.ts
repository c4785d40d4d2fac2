import { UnfitAddress } from "@data-cabinet/core/delivery/AddressCheck"
import { pollChecks } from "@data-cabinet/core/poll/CheckPoll"
import type { NewPoll, Poll, PollChange } from "@data-cabinet/core/poll/Poll"
import { POLL_SETTINGS } from "@data-cabinet/core/poll/PollSettings"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { POLL } from "./PollsInMemory.ts"

const NEW: NewPoll = { sourceId: 1, url: "https://example.com/items", everySeconds: 60 }

const over = (was: Partial<Poll> = {}) => {
  const looked: Array<string> = []
  const check = (url: URL) =>
    Effect.suspend(() => {
      looked.push(url.href)
      if (url.hostname === "nowhere.example")
        return Effect.fail(new UnfitAddress({ is: "name_not_found", detail: "nowhere.example has no address" }))
      return url.hostname === "10.0.0.1"
        ? Effect.fail(new UnfitAddress({ is: "not_public", detail: "10.0.0.1 is private" }))
        : Effect.void
    })
  const { checked, changed } = pollChecks({ check }, () => Effect.succeed({ ...POLL, ...was }))
  return {
    looked,
    checked: (poll: Partial<NewPoll>) => Effect.runSync(checked({ ...NEW, ...poll })),
    refusal: (poll: Partial<NewPoll>) => Effect.runSync(Effect.flip(checked({ ...NEW, ...poll }))),
    changed: (change: PollChange) => Effect.runSync(changed(1, change)),
    changeRefusal: (change: PollChange) => Effect.runSync(Effect.flip(changed(1, change))),
  }
}

it.each<[Partial<NewPoll>, string]>([
  [{ url: "example.com" }, "bad_url"],
  [{ url: "ftp://example.com/" }, "bad_url"],
  [{ everySeconds: 9 }, "bad_interval"],
  [{ everySeconds: 30 * 86_400 + 1 }, "bad_interval"],
  [{ everySeconds: 10.5 }, "bad_interval"],
  [{ format: "xlsx" as never }, "bad_format"],
  [{ pointer: "data" }, "bad_pointer"],
  [{ pointer: "/data", format: "csv" }, "bad_pointer"],
  [{ pointer: "/data", format: "ndjson" }, "bad_pointer"],
  [{ keyField: "" }, "bad_key"],
  [{ keyField: "/a~2" }, "bad_key"],
  [
    {
      headers: [
        ["Accept", "a"],
        ["If-None-Match", "x"],
      ],
    },
    "bad_header",
  ],
  [{ headers: [["range", "bytes=0-1"]] }, "bad_header"],
  [{ headers: [["If-Modified-Since", "x"]] }, "bad_header"],
  [{ headers: [["Authorization", "a\nb"]] }, "bad_header"],
])("a poll with %j is refused, before its host is looked up", (poll, code) => {
  const { looked, refusal, changeRefusal } = over()
  expect(refusal(poll)).toMatchObject({ code })
  expect(changeRefusal(poll)).toMatchObject({ code })
  expect(looked).toEqual([])
})

it.each<Partial<NewPoll>>([
  {},
  { format: null, pointer: "", keyField: null },
  { everySeconds: 10, format: "csv", keyField: "id" },
  { everySeconds: 30 * 86_400, format: "json", pointer: "/data/items", keyField: "/meta/id" },
  { pointer: "/data" },
  { keyField: "a~2" },
  {
    headers: [
      ["Authorization", "Bearer x"],
      ["Accept", "application/json"],
    ],
  },
])("a poll with %j is accepted with defaults for the rest, and the URL that will be requested", (poll) => {
  const { looked, checked } = over()
  expect(checked({ ...poll, url: "HTTPS://Example.com:443/a b" })).toEqual({
    ...POLL_SETTINGS.defaults,
    headers: [],
    ...NEW,
    ...poll,
    url: "https://example.com/a%20b",
  })
  expect(looked).toEqual(["https://example.com/a%20b"])
})

it("CheckPoll refuses an invalid or non-public URL, when added and when changed", () => {
  const { refusal, changeRefusal } = over({ headerNames: [] })
  const error = { code: "not_public", message: expect.stringContaining("10.0.0.1 is private") }
  expect(refusal({ url: "http://10.0.0.1/" })).toMatchObject(error)
  expect(changeRefusal({ url: "http://10.0.0.1/" })).toMatchObject(error)
  expect(refusal({ url: "https://nowhere.example/" })).toMatchObject({ code: "name_not_found" })
})

it("CheckPoll keeps headers with the origin that they were given for", () => {
  const { changed, changeRefusal } = over()
  for (const url of ["https://example.org/items", "http://example.com/items", "https://example.com:8443/items"]) {
    const refused = changeRefusal({ url })
    expect(refused).toMatchObject({ code: "headers_needed" })
    expect(refused.message).toContain("Authorization")
    expect(refused.message).toContain("https://example.com")
    expect(refused.message).not.toContain("secret")
    expect(changed({ url, headers: [] }).settings).toMatchObject({ url, headers: [] })
    expect(changed({ url, headers: [["X-Key", "1"]] }).settings.headers).toEqual([["X-Key", "1"]])
  }
  expect(changed({ url: "https://example.com/other" }).settings.headers).toBeNull()
  expect(over({ headerNames: [] }).changed({ url: "https://example.org/" }).settings.headers).toBeNull()
})

it("CheckPoll keeps absent fields of a change, and resolves only a new host", () => {
  const { looked, changed } = over({ format: "json", pointer: "/data" })
  const { url } = POLL
  const as = { url, everySeconds: 60, format: "json", pointer: "/data", keyField: "id", headers: null, first: false }
  expect(changed({})).toEqual({ was: { ...POLL, format: "json", pointer: "/data" }, settings: as })
  expect(changed({ everySeconds: 90, format: null }).settings).toEqual({ ...as, everySeconds: 90, format: null })
  expect(looked).toEqual([])
  expect(changed({ url: `${url}2` }).settings).toEqual({ ...as, url: `${url}2` })
  expect(looked).toEqual([`${url}2`])
})

it.each<[PollChange, boolean]>([
  [{ url: "https://example.com/items?token=other" }, false],
  [{ url: "https://example.com/items" }, false],
  [{ everySeconds: 90, format: "json" }, false],
  [{ url: "https://example.com/others?token=secret" }, true],
  [{ pointer: "/data" }, true],
  [{ keyField: "/id" }, true],
  [{ keyField: null }, true],
])("after %j, whether the first items are history is %j", (change, first) => {
  expect(over().changed(change).settings.first).toBe(first)
})
