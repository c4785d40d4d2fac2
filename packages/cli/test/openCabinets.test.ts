/** A server of many cabinets inside a program: cabinets are added, served by host name, used and removed. */
import { openCabinets, type Cabinets } from "data-cabinet/openCabinets"
import { afterAll, beforeAll, expect, it } from "vitest"
import { runSql } from "../../../test/support/postgresAdmin.ts"
import { testDatabase, type TestDatabase } from "../../../test/support/postgres.ts"

const DOMAIN = "cabinets.test"
const orders = `orders-${process.pid}`

let own: TestDatabase
let other: TestDatabase
let cabinets: Cabinets

beforeAll(async () => {
  ;[own, other] = await Promise.all([testDatabase({ empty: true }), testDatabase({ empty: true })])
  cabinets = await openCabinets({ databaseUrl: own.url, serviceDomain: DOMAIN, baseUrl: "http://cabinets.test:8080" })
})
afterAll(async () => {
  await cabinets.close()
  await runSql(own.superuserUrl, `DROP DATABASE IF EXISTS cabinet_${orders.replaceAll("-", "_")} WITH (FORCE)`)
  await Promise.all([own.drop(), other.drop()])
})

const ask = async (name: string, path: string, init?: RequestInit) =>
  await cabinets.fetchHandler(new Request(`http://${name}.${DOMAIN}:8080${path}`, init))

it("serves a cabinet as soon as it is added, in a database created for it, and opens it for the program's calls", async () => {
  expect((await ask(orders, "/api/v1/sources")).status).toBe(404)
  const added = await cabinets.add(orders)
  expect(added).toMatchObject({ name: orders, baseUrl: `http://${orders}.${DOMAIN}:8080` })
  expect((await ask(orders, "/api/v1/sources")).status).toBe(401)

  const cabinet = await cabinets.open(orders)
  const source = await cabinet.sources.create({ name: "Orders" })
  expect(source.intakeUrl.startsWith(`${added.baseUrl}/webhook/`)).toBe(true)
  const sent = await ask(orders, new URL(source.intakeUrl).pathname, { method: "POST", body: "total=7" })
  expect(sent.status).toBe(200)
  const { rows } = await cabinet.rows("sources.orders")
  expect(rows).toMatchObject([{ total: "7" }])
  await cabinet.close()
})

it("serves a cabinet in a given database until it is removed", async () => {
  await cabinets.add("elsewhere", { databaseUrl: other.url })
  expect((await cabinets.list()).map(({ name, databaseUrl }) => [name, databaseUrl])).toContainEqual([
    "elsewhere",
    other.url,
  ])
  expect((await ask("elsewhere", "/api/v1/sources")).status).toBe(401)
  await cabinets.remove("elsewhere")
  expect((await ask("elsewhere", "/api/v1/sources")).status).toBe(404)
  expect(await other.run("SELECT count(*)::int AS n FROM cabinet.source")).toEqual([{ n: 0 }])
})

it("openCabinets refuses invalid calls with a code, and invalid options with a message", async () => {
  await expect(cabinets.add("No_Label")).rejects.toMatchObject({ name: "CabinetError", code: "bad_name" })
  await expect(cabinets.add("x", { databaseUrl: "nowhere" })).rejects.toMatchObject({ code: "bad_setting" })
  await expect(cabinets.open("nobody")).rejects.toMatchObject({ code: "no_such_cabinet" })
  await expect(cabinets.remove("nobody")).rejects.toMatchObject({ code: "no_such_cabinet" })
  const wrong = async (options: object) =>
    await openCabinets(options as never).then(
      () => "opened",
      (error: Error) => error.message,
    )
  expect(await wrong({ databaseUrl: own.url })).toContain("serviceDomain is undefined")
  expect(await wrong({ serviceDomain: DOMAIN, readUrl: own.url })).toContain("openCabinets has no option readUrl")
  expect(await wrong({ serviceDomain: DOMAIN, databseUrl: own.url })).toBe("openCabinets has no option databseUrl.")
})

it("rejects calls once it is closed, and responds to requests with 503", async () => {
  const short = await openCabinets({ databaseUrl: own.url, serviceDomain: DOMAIN })
  await short.close()
  await expect(short.list()).rejects.toMatchObject({ code: "closed" })
  expect((await short.fetchHandler(new Request(`http://${orders}.${DOMAIN}/api/v1/sources`))).status).toBe(503)
})
