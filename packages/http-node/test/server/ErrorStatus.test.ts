/**
 * The documented table of error codes: that of `docs/errors.md` is generated here (`vitest run -u` writes it) and
 * compared with the code.
 */
import { ERROR_MEANINGS, ERROR_TYPES, type ErrorCode } from "@data-cabinet/core/error/ErrorCode"
import { ERROR_STATUS } from "@data-cabinet/http-node/server/ErrorStatus"
import { assert, it } from "vitest"
import { expectTables } from "../support/pageTables.ts"

const CODES = (Object.keys(ERROR_TYPES) as Array<ErrorCode>)
  .map((code) => `| \`${code}\` | ${ERROR_STATUS[code]} | \`${ERROR_TYPES[code]}\` | ${ERROR_MEANINGS[code]} |\n`)
  .join("")

it("docs/errors.md has the table of codes", () =>
  expectTables("errors.md", { "| Code | Status | Type | When |\n|---|---|---|---|\n": CODES }))

it("ERROR_STATUS gives each type the statuses of the contract", () => {
  const statuses = (type: string) =>
    new Set(
      (Object.keys(ERROR_TYPES) as Array<ErrorCode>).filter((c) => ERROR_TYPES[c] === type).map((c) => ERROR_STATUS[c]),
    )
  assert.deepEqual(statuses("invalid_request"), new Set([400, 405]))
  assert.deepEqual(statuses("unauthorized"), new Set([401]))
  assert.deepEqual(statuses("not_found"), new Set([404]))
  assert.deepEqual(statuses("conflict"), new Set([409]))
  assert.deepEqual(statuses("rate_limited"), new Set([429]))
  assert.deepEqual(statuses("unavailable"), new Set([500, 503]))
})
