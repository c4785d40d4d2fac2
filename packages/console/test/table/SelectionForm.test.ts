import { selectionOfForm } from "@data-cabinet/console/table/SelectionForm"
import { todayIn } from "@data-cabinet/console/table/Days"
import { filtersOf, hiding, puttingFirst, queryText, withoutFilter } from "@data-cabinet/console/screen/SelectionLinks"
import { queryPairs } from "@data-cabinet/http-node/api/QueryPairs"
import { assert, it } from "vitest"

const COLUMNS = ["a", "b", "c"]
const chosen = (form: string) => queryText(selectionOfForm(queryPairs(form), COLUMNS, "2026-03-01"))

it("selectionOfForm omits fields that were not filled in", () => {
  const form = "q=&fc=a&fo=empty&fv=left&fc=b&fo=ge&fv=1&fc=&fo=eq&fv=lost&per=c&from=&to=&sort=&show=a&show=b&show=c"
  assert.strictEqual(chosen(form), "fc=a&fo=empty&fv=&fc=b&fo=ge&fv=1")
  assert.strictEqual(chosen("per=c&from=2026-01-01&to="), "per=c&from=2026-01-01")
})

it("selectionOfForm turns a period that today names into its first and last day", () => {
  const period = (days: string) => chosen(`days=${days}&per=c&from=2020-01-01&to=`)
  assert.strictEqual(period("today"), "per=c&from=2026-03-01&to=2026-03-01")
  assert.strictEqual(period("yesterday"), "per=c&from=2026-02-28&to=2026-02-28")
  assert.strictEqual(period("last7"), "per=c&from=2026-02-23&to=2026-03-01")
  assert.strictEqual(period("month"), "per=c&from=2026-03-01&to=2026-03-31")
  assert.strictEqual(period("lastMonth"), "per=c&from=2026-02-01&to=2026-02-28")
  assert.strictEqual(period("never"), "per=c&from=2020-01-01")
  assert.strictEqual(todayIn("Asia/Tokyo", Date.parse("2026-02-28T15:00:00Z")), "2026-03-01")
})

it("selectionOfForm hides unchecked columns and keeps a list that names columns", () => {
  assert.strictEqual(chosen("show=a&show=c"), "hide=b")
  assert.strictEqual(chosen("show=a&show=c&order=c"), "order=c&hide=b")
  assert.strictEqual(chosen("col=c&col=b&show=a&show=c"), "col=c&col=a")
  assert.strictEqual(chosen("hide=b&fc=a&fo=eq&fv=1"), "fc=a&fo=eq&fv=1&hide=b")
})

it("selectionOfForm keeps groups and several sorts, without their empty lines", () => {
  const form = "fc=a&fo=eq&fv=1&fj=or&fc=b&fo=eq&fv=2&fj=and&fc=&fo=eq&fv=&sort=a&dir=desc&sort=b&dir=asc&sort=&dir="
  assert.strictEqual(chosen(form), "fc=a&fo=eq&fv=1&fc=b&fo=eq&fv=2&fj=or&sort=a&sort=b&dir=desc&dir=asc")
  assert.strictEqual(
    chosen("fc=a&fo=empty&fj=and&fc=&fo=eq&fj=or&fc=c&fo=empty"),
    "fc=a&fo=empty&fv=&fc=c&fo=empty&fv=",
  )
  assert.strictEqual(chosen("sort=&dir=desc"), "dir=desc")
  assert.strictEqual(chosen("sort=a&dir="), "sort=a")
  assert.strictEqual(chosen("sort=a&dir=&sort=b&dir=desc"), "sort=a&sort=b&dir=asc&dir=desc")
})

it("withoutFilter leaves the other groups as they are", () => {
  const groups = (left: number) => {
    const pairs = queryPairs("fc=a&fo=eq&fc=b&fo=eq&fc=c&fo=eq&fc=d&fo=eq&fj=or&fj=and&fj=or")
    return filtersOf(withoutFilter(pairs, left))
      .map(({ column, or }) => (or === true ? `|${column}` : ` ${column}`))
      .join("")
  }
  assert.deepStrictEqual([groups(0), groups(1), groups(2), groups(3)], [" b c|d", " a c|d", " a|b d", " a|b c"])
})

it("a link changes one thing and returns to the first page", () => {
  const pairs = queryPairs("q=x&fc=a&fo=eq&fv=1&fc=b&fo=empty&cursor=k")
  assert.strictEqual(queryText(withoutFilter(pairs, 0)), "q=x&fc=b&fo=empty&fv=")
  assert.strictEqual(queryText(hiding(pairs, "c")), "q=x&fc=a&fo=eq&fv=1&fc=b&fo=empty&hide=c")
  assert.strictEqual(queryText(hiding(queryPairs("col=a&col=b"), "a")), "col=b")
  assert.strictEqual(queryText(puttingFirst(queryPairs("col=a&col=b"), "b")), "col=b&col=a")
  assert.strictEqual(queryText(puttingFirst(queryPairs("q=x"), "b")), "q=x&order=b")
})
