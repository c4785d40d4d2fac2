import { comparesNumber } from "@data-cabinet/core/selection/TextOrder"
import { expect, it } from "vitest"

it.each([
  ["ge", "10"],
  ["gt", "-9.50"],
  ["lt", " 1,234.5"],
  ["le", "1 000"],
])("comparesNumber is true for %s with %j", (condition, value) => {
  expect(comparesNumber(condition, value)).toBe(true)
})

it.each([
  ["eq", "10"],
  ["contains", "10"],
  ["notempty", ""],
  ["ge", ""],
  ["ge", "ten"],
  ["ge", "2026-03-01"],
  ["ge", "10 pcs"],
])("comparesNumber is false for %s with %j", (condition, value) => {
  expect(comparesNumber(condition, value)).toBe(false)
})
