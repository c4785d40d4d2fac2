/**
 * What a customer's script or view cannot call in the embedded database of `cabinet serve`, in the server's own cabinet and in
 * an added one, and that the owner's own work continues.
 */
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"

/** The database of an added cabinet, rather than the server's own. */
const DOMAIN = { CABINET_SERVICE_DOMAIN: "cabinets.test" }

let home: Home
let server: ServerProcess
beforeAll(async () => {
  home = newHome()
  server = await home.serve([], { CABINET_INTAKE_RATE: "0" })
})
afterAll(endAll)

const send = async (total: string) => {
  const headers = { "content-type": "application/json" }
  const answer = await fetch(server.welcome.source!.intake_url, {
    method: "POST",
    headers,
    body: JSON.stringify({ total }),
  })
  return answer.status
}

const done = async (...args: ReadonlyArray<string>) => {
  const result = await home.cabinet(args, DOMAIN)
  expect(result).toMatchObject({ code: 0, stderr: "" })
  return result.stdout
}

const CALLS = [
  "pg_advisory_lock(1)",
  "pg_try_advisory_lock_shared(1)",
  "pg_terminate_backend(1)",
  "pg_cancel_backend(1)",
]

/** PostgreSQL's response to a call in the author's view, which runs with the reader's rights. */
const TRIED = `
CREATE FUNCTION public.tried(call text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN EXECUTE 'SELECT pg_catalog.' || call; RETURN 'allowed'; EXCEPTION WHEN insufficient_privilege THEN RETURN SQLERRM; END $$;
CREATE VIEW public.attempts AS SELECT n, public.tried(call) AS answer
FROM unnest(ARRAY[${CALLS.map((call) => `'${call}'`).join(", ")}]) WITH ORDINALITY AS c(call, n);
SELECT answer FROM public.attempts ORDER BY n;`

const REFUSED = CALLS.map((call) => `permission denied for function ${call.replace(/\(.*/, "")}`)

it("neither the author's script nor a view that a client reads can take an advisory lock or terminate a session", async () => {
  expect(await send("12")).toBe(200)
  await done("cabinets", "add", "orders")
  for (const place of [[], ["--cabinet", "orders"]]) {
    const { code, stdout, stderr } = await home.cabinet([...place, "sql"], DOMAIN, TRIED)
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    for (const refusal of REFUSED) expect(stdout).toContain(refusal)
    expect(stdout).not.toContain("allowed")
    const read = JSON.parse(await done(...place, "rows", "public.attempts", "--sort", "n", "--json"))
    expect(read.data.map((row: { answer: string }) => row.answer)).toEqual(REFUSED)
  }
  const { findings } = JSON.parse(await done("--cabinet", "orders", "doctor", "--json"))
  const locks = findings.find((one: { check: string }) => one.check === "locks")
  expect(locks).toMatchObject({
    level: "ok",
    message: expect.stringMatching(/^Only roles with an explicit grant can take advisory locks/),
  })
})

it("the owner can still take its locks: equal bodies, and views that are recreated as their author", async () => {
  expect(
    await home.cabinet(["sql"], DOMAIN, "CREATE VIEW public.totals AS SELECT total FROM sources.first_source"),
  ).toMatchObject({
    code: 0,
    stderr: "",
  })
  await done("column", "1", "total", "--type", "numeric", "--with-views")
  expect(await Promise.all([send("13"), send("13"), send("14")])).toEqual([200, 200, 200])
  expect(JSON.parse(await done("rows", "public.totals", "--sort", "total", "--json")).data).toEqual([
    { total: 12 },
    { total: 13 },
    { total: 14 },
  ])
  expect(server.log()).not.toMatch(/permission denied/)
})
