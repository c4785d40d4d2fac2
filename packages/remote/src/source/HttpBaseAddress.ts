/**
 * The base address of a remote cabinet: the one configured on its server, or else the one under which it was just
 * reached.
 */
import { type BaseUrl, BaseAddress } from "@data-cabinet/core/source/BaseAddress"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { lookup, RemoteSettings } from "../http/RemoteSettings.ts"
import { refusalAsDefect } from "../http/RemoteRefusal.ts"

export const layer = Layer.effect(
  BaseAddress,
  Effect.gen(function* () {
    const api = yield* ManageApi
    const { url } = yield* RemoteSettings
    return BaseAddress.of({
      get: Effect.map(
        lookup(
          refusalAsDefect(
            api.json<{ readonly baseUrl: string; readonly baseUrlKnown: boolean }>({
              method: "GET",
              path: ["cabinet"],
            }),
          ),
        ),
        ({ baseUrl, baseUrlKnown }): BaseUrl => ({ url: baseUrlKnown ? baseUrl : url, known: true }),
      ),
    })
  }),
)
