/**
 * The management API as documented: the tables of actions and of errors in `docs/management-api.md` are generated here
 * (`vitest run -u` writes them) and compared with the code.
 */
import { ROLE_NEEDED } from "@data-cabinet/core/key/Role"
import { globSync, readFileSync } from "node:fs"
import { expect, it } from "vitest"
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

it("every file of endpoints is listed, itself or by another such file, in routes/Management", () => {
  const cwd = new URL("../../src/", import.meta.url)
  const files = globSync("*/*.ts", { cwd }).map((file) => ({ file, text: readFileSync(new URL(file, cwd), "utf8") }))
  const endpoints = files.filter(({ file, text }) => text.includes("manageEndpoint({") && !file.startsWith("routes"))
  expect(endpoints.length).toBeGreaterThan(20)
  const imported = files.flatMap(({ text }) => [...text.matchAll(/from "\.[./]*\/([^"]+)"/g)].map(([, path]) => path!))
  const isListed = (file: string) => imported.some((path) => file === path || file.endsWith(`/${path}`))
  expect(endpoints.map(({ file }) => file).filter((file) => !isListed(file))).toEqual([])
})
