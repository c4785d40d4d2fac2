/** The screen of destinations and its acts. */
import { Destinations } from "@data-cabinet/core/destination/Destinations"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { consolePath } from "../html/Shell.ts"
import { act, idOf } from "../screen/Act.ts"
import type { ConsoleRefusal, ConsoleScreen, Repeat } from "../screen/ConsoleScreen.ts"
import { credentialField } from "../screen/CredentialFields.ts"
import { destinationChangeIn, newDestinationIn } from "./DestinationForm.ts"
import { destinationListScreen } from "./DestinationScreen.ts"

/** Which of the fields of credentials a refusal is about. */
const atField = <A, E extends ConsoleRefusal, R>(location: string, work: Effect.Effect<A, E, R>) =>
  Effect.mapError(work, (error): ConsoleRefusal =>
    "code" in error && (error.code === "bad_credentials" || error.code === "credentials_needed")
      ? { code: error.code, message: error.message, param: credentialField(location) }
      : error,
  )

export const destinationScreens = Effect.gen(function* () {
  const destinations = yield* Destinations
  const sources = yield* Sources
  const { timeZone } = yield* ConsoleSettings
  const changing = (
    name: "pause" | "resume" | "restart" | "remove",
    work: (id: number) => Effect.Effect<unknown, ConsoleRefusal>,
    repeat: Repeat = "allowed",
  ) =>
    act({
      path: `/console/destinations/{id}/${name}`,
      action: "destination.change",
      home: () => "destinations",
      repeat,
      respond: ({ path: [id] }) => Effect.as(work(idOf(id)), null),
    })
  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path: "/console/destinations",
      action: "destination.read",
      back: () => "destinations",
      get: ({ frame }) =>
        Effect.map(Effect.all([destinations.list, sources.list]), ([all, known]) => ({
          screen: destinationListScreen(frame, { destinations: all, sources: known, timeZone }),
        })),
      post: {
        action: "destination.change",
        repeat: "once",
        respond: Effect.fnUntraced(function* (call) {
          const made = yield* newDestinationIn(call)
          yield* atField(made.location, destinations.add(made))
          return { location: consolePath(call.frame, "destinations") }
        }),
      },
    },
    act({
      path: "/console/destinations/{id}/change",
      action: "destination.change",
      home: () => "destinations",
      repeat: "allowed",
      respond: Effect.fnUntraced(function* (call) {
        const id = idOf(call.path[0])
        const { location } = yield* destinations.get(id)
        const change = yield* destinationChangeIn(call, location)
        return yield* Effect.as(atField(location, destinations.change(id, change)), null)
      }),
    }),
    changing("pause", destinations.pause),
    changing("resume", destinations.resume),
    changing("restart", destinations.restart, "once"),
    changing("remove", destinations.remove),
  ]
  return screens
})
