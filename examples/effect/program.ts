/**
 * A cabinet in an Effect program: its ports and use cases are services like the program's own, and a layer beside them
 * serves it.
 *
 *   node program.ts
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Feed, Intake, openCabinetLayer, Server, Sources } from "data-cabinet/effect"
import { Console, Context, Effect, Layer } from "effect"

const port = Number(process.env["PORT"] ?? 3000)
const cabinet = openCabinetLayer({
  databaseUrl: process.env["DATABASE_URL"], // without one: an embedded PostgreSQL in .cabinet
  baseUrl: `http://127.0.0.1:${port}`,
})

/** The program's own service, built on the cabinet's. */
class Orders extends Context.Service<
  Orders,
  { readonly place: (total: string) => Effect.Effect<number>; readonly count: Effect.Effect<number> }
>()("shop/Orders") {
  static readonly layer = Layer.effect(
    Orders,
    Effect.gen(function* () {
      const sources = yield* Sources
      const intake = yield* Intake
      const feed = yield* Feed
      const known = (yield* sources.list).find(({ name }) => name === "Orders")
      const { id } = known ?? (yield* sources.create({ name: "Orders" }))
      const params = [
        ["source_id", String(id)],
        ["limit", "1000"],
      ] as const
      return Orders.of({
        place: (total) =>
          intake.accept(id, { total }).pipe(
            Effect.map((receipt) => receipt.id),
            Effect.orDie,
          ),
        count: feed.page(params).pipe(
          Effect.map((page) => page.items.length),
          Effect.orDie,
        ),
      })
    }),
  )
}

const work = Effect.gen(function* () {
  const orders = yield* Orders
  yield* Console.log(`Placed order ${yield* orders.place("12.50")}, there are ${yield* orders.count}`)
})

const server = Server.layer({ host: "127.0.0.1", port, metrics: true })
const program = Layer.effectDiscard(work).pipe(Layer.provide(Orders.layer))

NodeRuntime.runMain(Layer.launch(Layer.merge(server, program).pipe(Layer.provide(cabinet))))
