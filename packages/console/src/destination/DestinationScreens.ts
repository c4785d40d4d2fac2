/** The screen of destinations and its acts. They are added by the command and the API, which take credentials. */
import { Destinations } from "@data-cabinet/core/destination/Destinations"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { act, idOf } from "../screen/Act.ts"
import type { ConsoleRefusal, ConsoleScreen, Repeat } from "../screen/ConsoleScreen.ts"
import { destinationListScreen } from "./DestinationScreen.ts"

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
      get: ({ frame }) =>
        Effect.map(Effect.all([destinations.list, sources.list]), ([all, known]) => ({
          screen: destinationListScreen(frame, { destinations: all, sources: known, timeZone }),
        })),
    },
    changing("pause", destinations.pause),
    changing("resume", destinations.resume),
    changing("restart", destinations.restart, "once"),
    changing("remove", destinations.remove),
  ]
  return screens
})
