import { keptHeaders, mergeHeaders } from "@data-cabinet/core/delivery/HeaderChange"
import { expect, it } from "vitest"

const HEADERS = [
  ["Authorization", 1],
  ["X-Tenant", 2],
  ["X-Key", 3],
] as const

it("mergeHeaders replaces in place, adds at the end and removes, ignoring the case of names", () => {
  const merged = mergeHeaders(
    HEADERS,
    [
      ["x-tenant", 20],
      ["X-New", 4],
    ],
    ["AUTHORIZATION", "X-None"],
  )
  expect(merged).toEqual([
    ["x-tenant", 20],
    ["X-Key", 3],
    ["X-New", 4],
  ])
  expect(mergeHeaders(HEADERS, [])).toEqual(HEADERS)
})

it("keptHeaders returns the headers that a change leaves unchanged", () => {
  expect(keptHeaders(HEADERS, { setHeaders: [["x-KEY", "a"]], removeHeaders: ["authorization"] })).toEqual([
    ["X-Tenant", 2],
  ])
  expect(keptHeaders(HEADERS, {})).toEqual(HEADERS)
})
