/** The README, executed as written: a shell runs every command in order. */
import { afterAll, expect, it } from "vitest"
import { endAll } from "../support/cabinetProcess.ts"
import { newTour, readPage, type Tour } from "../support/tour.ts"

let tour: Tour | undefined

afterAll(async () => {
  tour?.end()
  await endAll()
})

it("every command of the README works as documented", async () => {
  tour = await newTour()
  const blocks = await tour.run("README.md")
  expect(blocks.length).toBeGreaterThan(8)
  // A column that the README filters by size has to be numeric: as text, 9.50 comes after 10.
  const filters = [
    ...readPage("README.md").matchAll(/\.rows\("([\w.]+)", \{ fc: "(\w+)", fo: "([gl][te])", fv: "([^"]+)"/g),
  ]
  expect(filters.length).toBeGreaterThan(0)
  for (const [, object, column, condition, value] of filters) {
    const filter = ["--fc", column!, "--fo", condition!, "--fv", value!]
    const { stdout } = await tour.home.cabinet(["rows", object!, ...filter, "--json"])
    const { data, columns } = JSON.parse(stdout) as { data: Array<unknown>; columns: Array<Record<string, string>> }
    expect(data.length).toBeGreaterThan(0)
    expect(columns.find(({ name }) => name === column)!["type"]).toBe("numeric")
  }
  expect(await tour.server()!.stop("SIGINT")).toBe(0)
}, 900_000)
