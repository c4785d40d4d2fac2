/** The guides in docs/guides, executed as written, one after the other on one server. */
import { globSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll } from "../support/cabinetProcess.ts"
import { newTour, type Tour } from "../support/tour.ts"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))

let tour: Tour

beforeAll(async () => {
  tour = await newTour()
  await tour.start({ CABINET_ALLOWED_NETWORKS: "127.0.0.0/8" })
})
afterAll(async () => {
  tour.end()
  await endAll()
})

/** Left out: it installs from npm and builds with Next.js, which `test/flow/starters.test.ts` does with the packed package. */
const ELSEWHERE = ["docs/guides/embed-in-next.md"]

const guides = globSync("docs/guides/*.md", { cwd: ROOT }).filter((guide) => !ELSEWHERE.includes(guide))

it.each(guides)("%s", async (guide) => expect((await tour.run(guide)).length).toBeGreaterThan(1), 300_000)
