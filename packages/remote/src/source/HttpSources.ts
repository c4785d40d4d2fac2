/** The sources of a remote cabinet. Their settings are checked here too, so that a refusal has the same words. */
import { snakeKeys } from "@data-cabinet/core/json/KeyCase"
import { allItems, type IdQuery } from "@data-cabinet/core/pagination/IdPages"
import type { Source, SourceWithSecret } from "@data-cabinet/core/source/Source"
import { SourceError } from "@data-cabinet/core/source/SourceError"
import { checkKeepOld, checkSettings, type SourceChange, Sources } from "@data-cabinet/core/source/Sources"
import { Effect, Layer, Option } from "effect"
import { idPages, ManageApi } from "../http/ManageApi.ts"
import { refusalAsDefect, ofCodes, RemoteRefusal, refusedAs } from "../http/RemoteRefusal.ts"
import { serverOnly } from "../http/RemoteSettings.ts"

const known = ofCodes(SourceError)

/** A key reads rows and events, and lists no sources. */
const BY_NUMBER = new RemoteRefusal({
  code: "forbidden",
  message: "With an API key in CABINET_TOKEN, give the source by its number instead of its name.",
  param: null,
  retryAfter: 0,
})

/** As the API shows it. */
interface SentSource extends Source {
  readonly intakePath: string
}

const withSecret = ({ intakePath, ...source }: SentSource): SourceWithSecret => ({
  ...source,
  intakeSecret: intakePath.slice(intakePath.lastIndexOf("/") + 1),
})

/** As a body, without undefined fields. */
const bodyOf = (settings: SourceChange) => snakeKeys(settings) as object

export const layer = Layer.effect(
  Sources,
  Effect.map(ManageApi, (api) => {
    const change = (id: number, body: object) =>
      refusedAs(api.json<Source>({ method: "PATCH", path: ["sources", id], body }), known)
    const secret = (id: number, act: string, query: ReadonlyArray<readonly [string, string]> = []) =>
      Effect.map(
        refusedAs(api.json<SentSource>({ method: "POST", path: ["sources", id, act], query }), known),
        withSecret,
      )
    const page = (query: IdQuery) =>
      api.isByKey ? Effect.die(BY_NUMBER) : refusalAsDefect(idPages<Source>(api, "sources", query))
    return Sources.of({
      create: Effect.fnUntraced(function* (source) {
        yield* checkSettings(source)
        const body = bodyOf(source)
        return withSecret(yield* refusedAs(api.json<SentSource>({ method: "POST", path: ["sources"], body }), known))
      }),
      list: allItems(page),
      page,
      get: (id) =>
        refusedAs(api.json<Source>({ method: "GET", path: ["sources", id] }), known).pipe(
          Effect.map(Option.some),
          Effect.catchTag("SourceError", () => Effect.succeedNone),
        ),
      reveal: (id) => secret(id, "reveal"),
      change: (id, changed) => Effect.andThen(checkSettings(changed), change(id, bodyOf(changed))),
      archive: (id) => change(id, { archived: true }),
      restore: (id) => change(id, { archived: false }),
      remove: (id, table) =>
        Effect.asVoid(
          refusedAs(api.text({ method: "DELETE", path: ["sources", id], query: [["table", table]] }), known),
        ),
      rotateSecret: (id, { keepOldSeconds = null } = {}) =>
        Effect.andThen(
          checkKeepOld(keepOldSeconds),
          secret(id, "rotate-secret", keepOldSeconds === null ? [] : [["keep_old_seconds", String(keepOldSeconds)]]),
        ),
      bySecret: () => serverOnly("Intake"),
      cached: () => undefined,
      forIntake: () => serverOnly("Intake"),
    })
  }),
)
