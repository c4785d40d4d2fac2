/**
 * The management API as documented: the tables of actions and of errors in `docs/management-api.md` are generated here
 * (`vitest run -u` writes them) and compared with the code.
 */
import { ROLE_NEEDED } from "@data-cabinet/core/key/Role"
import { it } from "vitest"
import { expectTables } from "../support/pageTables.ts"
import type { ManageCode } from "@data-cabinet/http-node/manage/ManageCode"
import { MANAGE_CODES, manageType } from "@data-cabinet/http-node/manage/ManageRefusals"

const TABLES: Readonly<Record<string, string>> = {
  "| Action | Role |\n|---|---|\n": Object.entries(ROLE_NEEDED)
    .map(([action, role]) => `| \`${action}\` | ${role} |\n`)
    .join(""),
  "| Code | Status | Type | When |\n|---|---|---|---|\n": (Object.keys(MANAGE_CODES) as Array<ManageCode>)
    .map(
      (code) =>
        `| \`${code}\` | ${MANAGE_CODES[code].status} | \`${manageType(code)}\` | ${MANAGE_CODES[code].meaning} |\n`,
    )
    .join(""),
}

it("docs/management-api.md has the tables of actions and codes", () => expectTables("management-api.md", TABLES))
