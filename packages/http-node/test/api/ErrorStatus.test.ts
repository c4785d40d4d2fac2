/**
 * The documented table of error codes: `docs/errors.md` is generated here (`vitest run -u` writes it) and compared with
 * the code.
 */
import { ERROR_MEANINGS, ERROR_TYPES, type ErrorCode } from "@data-cabinet/core/error/ErrorCode"
import { ERROR_STATUS } from "@data-cabinet/http-node/api/ErrorStatus"
import { assert, expect, it } from "vitest"

const PAGE = `# Errors of the read API

All errors have the same shape, and each code has one type and one status:

\`\`\`json
{ "error": { "type": "invalid_request", "code": "bad_limit", "message": "limit must be an integer from 1 to 1000.", "param": "limit" } }
\`\`\`

\`message\` describes what was expected and may change; branch on \`code\`, or on \`type\` for codes you do not know.
\`param\` names the offending parameter, or is null.

- Checks run in this order: path and method, key, rate, form of the path, unknown parameters, form of the parameters,
  existence, whether the selection applies, reading. The first failure is returned.
- 401 carries \`WWW-Authenticate: Bearer\`, 405 \`Allow: GET\`, 429 and 503 \`Retry-After\` in seconds.
- \`X-RateLimit-Limit\` and \`X-RateLimit-Remaining\` are on every response to a request with a valid key, including errors.
  Minutes are clock minutes; the counts restart after a database crash.
- The management API has codes of its own, such as 409 \`too_many_addresses\` when a source has 100,000 addresses:
  [Management API](management-api.md) lists them.
- \`internal_error\` has an id in \`message\`: the service's log has the details under it.

| Code | Status | Type | When |
|---|---|---|---|
`

const table = () =>
  (Object.keys(ERROR_TYPES) as Array<ErrorCode>)
    .map((code) => `| \`${code}\` | ${ERROR_STATUS[code]} | \`${ERROR_TYPES[code]}\` | ${ERROR_MEANINGS[code]} |\n`)
    .join("")

it("docs/errors.md matches the table of codes", async () => {
  await expect(PAGE + table()).toMatchFileSnapshot("../../../../docs/errors.md")
})

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
