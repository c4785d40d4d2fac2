/** The screens and acts of keys, delivery addresses and the login for reports. */
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { ReportLogin } from "@data-cabinet/core/row/ReportLogin"
import { Shapes } from "@data-cabinet/core/payload/Shapes"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { consolePath, type Frame } from "../html/Shell.ts"
import { lifetimeOf } from "../person/Lifetime.ts"
import { act, fieldOf, idOf } from "../screen/Act.ts"
import type { ConsoleScreen } from "../screen/ConsoleScreen.ts"
import { type AddressData, addressScreen } from "./AddressScreen.ts"
import { deliveryListScreens } from "./DeliveryListScreens.ts"
import { deliveryScreens } from "./DeliveryScreens.ts"
import { bodyScreens, type Card } from "./BodyScreens.ts"
import { filtersOf } from "./FilterChoice.ts"
import { headerChangeOf } from "./HeadersCard.ts"
import { knownPaths } from "./KnownPaths.ts"
import { resendScreen } from "./ResendScreen.ts"
import { sendingOf } from "./SendingFields.ts"
import { subscriptionOf } from "./SubscriptionChoice.ts"
import { integrationsFrom } from "./IntegrationOverview.ts"

const ATTEMPTS = 50

const keyScreens = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const addresses = yield* Addresses
  const reports = yield* ReportLogin
  const overview = yield* integrationsFrom
  const home = () => "integrations"
  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path: "/console/integrations",
      action: "address.read",
      get: ({ frame, pairs }) => overview(frame, { pairs }),
    },
    act({
      path: "/console/keys",
      action: "key.change",
      home,
      repeat: "once",
      respond: Effect.fnUntraced(function* (call) {
        const lifetime = yield* lifetimeOf(call)
        return yield* overview(call.frame, { issued: yield* keys.issue(fieldOf(call, "name"), lifetime) })
      }),
    }),
    act({
      path: "/console/report-login",
      action: "report_login.change",
      home,
      repeat: "once",
      respond: ({ frame }) => Effect.flatMap(reports.issue(), (issuedLogin) => overview(frame, { issuedLogin })),
    }),
    act({
      path: "/console/report-login/revoke",
      action: "report_login.change",
      home,
      repeat: "allowed",
      respond: () => Effect.as(reports.revoke(), null),
    }),
    act({
      path: "/console/keys/{id}/revoke",
      action: "key.change",
      home,
      repeat: "allowed",
      respond: ({ path: [id] }) => Effect.as(keys.revoke(idOf(id)), null),
    }),
    act({
      path: "/console/addresses",
      action: "address.change",
      home,
      repeat: "once",
      respond: Effect.fnUntraced(function* (call) {
        const subscription = yield* subscriptionOf(call)
        const { id } = yield* addresses.create({
          url: fieldOf(call, "url"),
          sources: subscription,
          ...filtersOf(call),
          ...sendingOf(call),
        })
        return { location: consolePath(call.frame, `addresses/${id}`) }
      }),
    }),
  ]
  return screens
})

const testScreen = (addresses: Addresses["Service"], card: Card): ConsoleScreen =>
  act({
    path: "/console/addresses/{id}/test",
    action: "address.read",
    home: ([id]) => `addresses/${id}`,
    repeat: "allowed",
    respond: (call) =>
      Effect.flatMap(addresses.test(idOf(call.path[0]), idOf(fieldOf(call, "event"))), (result) =>
        card(call.frame, idOf(call.path[0]), { is: "test", result }),
      ),
  })

/** Skips the event at which an address in order waits. */
const skipScreen = (addresses: Addresses["Service"]): ConsoleScreen =>
  act({
    path: "/console/addresses/{id}/skip",
    action: "delivery.change",
    home: ([id]) => `addresses/${id}`,
    repeat: "allowed",
    respond: (call) => {
      const skipped = { eventId: idOf(fieldOf(call, "event")), reason: fieldOf(call, "reason") }
      return Effect.as(addresses.skip(idOf(call.path[0]), skipped), null)
    },
  })

const secretScreens = (addresses: Addresses["Service"], card: Card): ReadonlyArray<ConsoleScreen> => {
  const home = ([id]: ReadonlyArray<string>) => `addresses/${id}`
  const secret = { is: "secret" } as const
  return [
    act({
      path: "/console/addresses/{id}/reveal",
      action: "address.reveal",
      home,
      repeat: "allowed",
      respond: ({ frame, path: [id] }) => card(frame, idOf(id), secret),
    }),
    act({
      path: "/console/addresses/{id}/rotate",
      action: "address.reveal",
      home,
      repeat: "once",
      respond: ({ frame, path: [id] }) =>
        Effect.flatMap(addresses.rotateSecret(idOf(id)), () => card(frame, idOf(id), secret)),
    }),
  ]
}

const addressScreens = Effect.gen(function* () {
  const addresses = yield* Addresses
  const deliveries = yield* Deliveries
  const sources = yield* Sources
  const shapes = yield* Shapes
  const { timeZone } = yield* ConsoleSettings
  const path = "/console/addresses/{id}" as const
  const home = ([id]: ReadonlyArray<string>) => `addresses/${id}`
  const card = Effect.fnUntraced(function* (frame: Frame, id: number, shows?: AddressData["shows"]) {
    const address = yield* addresses.get(id)
    const attempts = yield* deliveries.log({ addressId: id, limit: ATTEMPTS })
    const listed = yield* sources.list
    const data = { address, attempts, sources: listed, timeZone, known: yield* knownPaths(shapes, listed, address) }
    return { screen: addressScreen(frame, shows === undefined ? data : { ...data, shows }) }
  })
  const simple = (name: string, work: (id: number) => Effect.Effect<unknown, Refusal>) =>
    act({
      path: `${path}/${name}`,
      action: "address.change",
      home,
      repeat: "allowed",
      respond: ({ path: [id] }) => Effect.as(work(idOf(id)), null),
    })
  const screens: ReadonlyArray<ConsoleScreen> = [
    { path, action: "address.read", get: ({ frame, path: [id] }) => card(frame, idOf(id)) },
    act({
      path: `${path}/change`,
      action: "address.change",
      home,
      repeat: "allowed",
      respond: Effect.fnUntraced(function* (call) {
        const subscription = yield* subscriptionOf(call)
        const change = { url: fieldOf(call, "url"), sources: subscription, ...filtersOf(call), ...sendingOf(call) }
        return yield* Effect.as(addresses.set(idOf(call.path[0]), change), null)
      }),
    }),
    act({
      path: `${path}/headers`,
      action: "address.change",
      home,
      repeat: "allowed",
      respond: (call) => Effect.as(addresses.set(idOf(call.path[0]), headerChangeOf(call)), null),
    }),
    simple("pause", addresses.pause),
    simple("resume", addresses.resume),
    simple("client-certificate/remove", (id) => addresses.set(id, { clientIdentity: null })),
    act({
      path: `${path}/remove`,
      action: "address.change",
      home: () => "integrations",
      repeat: "allowed",
      respond: ({ path: [id] }) => Effect.as(addresses.remove(idOf(id)), null),
    }),
    act({
      path: `${path}/ping`,
      action: "address.change",
      home,
      repeat: "once",
      respond: ({ frame, path: [id] }) =>
        Effect.flatMap(addresses.ping(idOf(id)), (result) => card(frame, idOf(id), { is: "ping", result })),
    }),
    testScreen(addresses, card),
    skipScreen(addresses),
    ...secretScreens(addresses, card),
    resendScreen(deliveries, card),
  ]
  return [...screens, ...bodyScreens(addresses, card)]
})

type Refusal = Effect.Error<ReturnType<Addresses["Service"]["pause"]>>

export const integrationScreens = Effect.map(
  Effect.all([keyScreens, addressScreens, deliveryListScreens, deliveryScreens]),
  (all) => all.flat(),
)
