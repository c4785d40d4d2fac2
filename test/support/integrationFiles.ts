/** What `integrations/` asks Prometheus: the rules of its alerts with their tests, and the queries of its dashboard. */
import { readFileSync } from "node:fs"
import { parse } from "yaml"

const read = (path: string) => readFileSync(new URL(`../../integrations/${path}`, import.meta.url), "utf8")

export interface AlertRule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly summary: string; readonly runbook_url: string }
}

interface RuleTest {
  readonly input_series: ReadonlyArray<{ readonly series: string }>
  readonly alert_rule_test: ReadonlyArray<{ readonly alertname: string; readonly exp_alerts?: ReadonlyArray<unknown> }>
}

interface Dashboard {
  readonly panels: ReadonlyArray<{
    readonly id: number
    readonly title: string
    readonly targets: ReadonlyArray<{ readonly expr: string }>
  }>
}

const rules = parse(read("prometheus/alerts.yml")) as {
  readonly groups: ReadonlyArray<{ readonly rules: ReadonlyArray<AlertRule> }>
}

export const alertRules: ReadonlyArray<AlertRule> = rules.groups.flatMap((group) => group.rules)

export const alertTests = (parse(read("prometheus/alerts.test.yml")) as { readonly tests: ReadonlyArray<RuleTest> })
  .tests

export const { panels: dashboardPanels } = JSON.parse(read("grafana/dashboard.json")) as Dashboard

/** The queries of the dashboard, with what Grafana puts in for its variables. */
export const dashboardQueries: ReadonlyArray<string> = dashboardPanels
  .flatMap(({ targets }) => targets.map(({ expr }) => expr))
  .map((expr) => expr.replaceAll("$__rate_interval", "1m").replaceAll(/\$(?:job|database)\b/g, ".*"))

/** The metrics of a cabinet that are asked for, except those that only servers of several processes or with a standby have. */
export const askedMetrics: ReadonlyArray<string> = [
  ...new Set(
    [...alertRules.map(({ expr }) => expr), ...dashboardQueries].flatMap((expr) => expr.match(/\bcabinet_\w+/g) ?? []),
  ),
].filter((name) => !/^cabinet_(?:workers|standby)_/.test(name))

/** A series as its name and the names of its labels: `cabinet_follower_failures database,kind,name`. */
const shapeOf = (series: string): string => {
  const [, name, labels = ""] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? []
  const names = [...labels.matchAll(/(\w+)="[^"]*"/g)].map(([, label]) => label!)
  return `${name} ${names
    .filter((label) => label !== "job" && label !== "instance")
    .toSorted()
    .join(",")}`
}

/** The shapes of the series that the tests of the alerts make up. */
export const testedShapes: ReadonlyArray<string> = [
  ...new Set(alertTests.flatMap(({ input_series }) => input_series.map(({ series }) => shapeOf(series)))),
].filter((shape) => !/^(?:up|cabinet_(?:workers|standby)_\w+) /.test(shape))

/** The metrics, and the shapes of the series, that a server prints. */
export const printed = (text: string) => {
  const series = text
    .split("\n")
    .flatMap((line) => (line === "" || line.startsWith("#") ? [] : [line.replace(/ \S+$/, "")]))
  return { names: new Set(series.map((one) => one.split("{")[0]!)), shapes: new Set(series.map(shapeOf)) }
}
