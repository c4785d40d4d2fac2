/** Prepared and forgotten transactions, on a server that lets its users prepare them. */
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { preparedTransactions } from "@data-cabinet/store-pg/maintenance/PreparedTransactions"
import { PgClient } from "@effect/sql-pg"
import { Effect, Logger, Redacted } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { clusterHome, type TestCluster } from "../../../../test/support/cluster.ts"

const clusters = clusterHome()
let cluster: TestCluster
let url: string
beforeAll(async () => {
  cluster = await clusters.init("prepared")
  await cluster.start({ max_prepared_transactions: "5" })
  await cluster.createCabinet("cabinet")
  await cluster.createDatabase("other")
  url = cluster.url("cabinet")
})
afterAll(() => clusters.remove())

const prepare = (name: string, database = "cabinet") =>
  Effect.gen(function* () {
    const session = yield* (yield* PgClient.PgClient).reserve
    yield* session.executeUnprepared("BEGIN", [], undefined)
    yield* session.executeUnprepared("SELECT txid_current()", [], undefined)
    yield* session.executeUnprepared(`PREPARE TRANSACTION '${name.replaceAll("'", "''")}'`, [], undefined)
  }).pipe(
    Effect.scoped,
    Effect.provide(PgClient.layer({ url: Redacted.make(cluster.url(database)), maxConnections: 1 })),
    Effect.runPromise,
  )

it("preparedTransactions logs each transaction of its database once", async () => {
  const lines: Array<string> = []
  const logger = Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
  const patient = preparedTransactions()
  const check = preparedTransactions(0)
  const checked = (work: typeof check) =>
    Effect.map(work, () => lines.splice(0)).pipe(
      Effect.provide([OwnerClient.layer({ url }), logger]),
      Effect.runPromise,
    )
  assert.deepStrictEqual(await checked(check), [])
  await prepare("it's")
  await prepare("elsewhere", "other")
  assert.deepStrictEqual(await checked(patient), [])
  const [first, ...others] = await checked(check)
  assert.match(first!, /^The transaction "it's" of cabinet was prepared at \S+Z and not ended\./)
  assert.deepStrictEqual(others, [])
  await prepare("second")
  assert.match((await checked(check)).join(), /^The transaction "second" of cabinet [^]*VACUUM/)
  assert.deepStrictEqual(await checked(check), [])
})
