/**
 * The files for Prometheus and Grafana. `promtool`, where it is installed (`.ci/promtool`), checks the rules and their tests
 * and the queries of the dashboard; their form, their runbooks and that each alert is tested are checked everywhere.
 */
import { spawnSync } from "node:child_process"
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, it } from "vitest"
import { alertRules, alertTests, dashboardPanels, dashboardQueries } from "../support/integrationFiles.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))

/** What promtool says, with its exit code; null without one. */
const promtool = (folder: string, ...args: ReadonlyArray<string>) => {
  const { error, status, stdout, stderr } = spawnSync("promtool", args, { cwd: folder, encoding: "utf8" })
  if (error === undefined) return { status, said: stdout + stderr }
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
  console.log("There is no promtool here: install it as root with .ci/promtool")
  return null
}

it("each alert fires at its fault and not at what is nearly one, as promtool finds", () => {
  const found = promtool(join(root, "integrations/prometheus"), "test", "rules", "alerts.test.yml")
  if (found !== null) assert.strictEqual(found.status, 0, found.said)
})

it("the queries of the dashboard are valid, as promtool finds", () => {
  const folder = mkdtempSync(join(tmpdir(), "dc-queries-"))
  try {
    const rules = dashboardQueries.map((expr, n) => ({ record: `query_${n}`, expr }))
    assert.isAbove(rules.length, 20)
    writeFileSync(join(folder, "queries.yml"), JSON.stringify({ groups: [{ name: "queries", rules }] }))
    const found = promtool(folder, "check", "rules", "queries.yml")
    if (found !== null) assert.strictEqual(found.status, 0, found.said)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it("every alert has a test in which it fires, one in which it does not, and a runbook", () => {
  const checks = alertTests.flatMap((one) => one.alert_rule_test)
  const headings = [...readFileSync(`${root}docs/alerts.md`, "utf8").matchAll(/^## (\w+)$/gm)].map(([, name]) => name)
  for (const { alert, annotations } of alertRules) {
    const own = checks.filter(({ alertname }) => alertname === alert)
    assert.isTrue(
      own.some(({ exp_alerts = [] }) => exp_alerts.length > 0) &&
        own.some(({ exp_alerts = [] }) => exp_alerts.length === 0),
      alert,
    )
    assert.strictEqual(annotations.runbook_url, `https://docs.example.com/alerts#${alert.toLowerCase()}`)
  }
  assert.deepStrictEqual(
    headings,
    alertRules.map(({ alert }) => alert),
  )
})

it("the panels of the dashboard have ids of their own, and each asks something", () => {
  assert.strictEqual(new Set(dashboardPanels.map(({ id }) => id)).size, dashboardPanels.length)
  assert.deepStrictEqual(
    dashboardPanels.filter(({ targets }) => targets.length === 0).map(({ title }) => title),
    [],
  )
})

it("each folder of integrations/ has a README that names its version", () => {
  const folders = globSync("integrations/*", { cwd: root })
  assert.isAtLeast(folders.length, 2)
  for (const folder of folders)
    assert.match(readFileSync(`${root}${folder}/README.md`, "utf8"), /^Version \d+\.\d+\.\d+, for Data Cabinet/m)
})
