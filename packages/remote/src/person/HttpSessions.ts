/** The sessions of a remote cabinet's people, to be ended. */
import { Sessions } from "@data-cabinet/core/person/Sessions"
import { PersonError } from "@data-cabinet/core/person/PersonError"
import type { Session } from "@data-cabinet/core/person/Person"
import { Effect, Layer } from "effect"
import { serverOnly } from "../http/ServerOnly.ts"
import { ManageApi } from "../http/ManageApi.ts"
import { refusalAsDefect, ofCodes, refusedAs } from "../http/RemoteRefusal.ts"

const known = ofCodes(PersonError)

export const layer = Layer.effect(
  Sessions,
  Effect.map(ManageApi, (api) =>
    Sessions.of({
      find: () => serverOnly("Sign-in"),
      peek: () => serverOnly("Sign-in"),
      list: () => refusalAsDefect(api.list<Session>({ method: "GET", path: ["sessions"] })),
      end: (id) => Effect.asVoid(refusedAs(api.text({ method: "DELETE", path: ["sessions", id] }), known)),
      endAll: (id) =>
        Effect.map(
          refusalAsDefect(api.json<{ readonly count: number }>({ method: "POST", path: ["people", id, "sign-out"] })),
          ({ count }) => count,
        ),
    }),
  ),
)
