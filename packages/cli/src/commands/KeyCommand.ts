/** `cabinet key …`: the keys of the read API. A key is shown once, when it is issued. */
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { type IssuedKey, apiKeyShape } from "@data-cabinet/core/key/ApiKey"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { expiresFlag, keepOldFlag, stateOf } from "./Times.ts"
import { keyArgument, keyNamed, nameArgument } from "./Named.ts"
import { idPage, idPageFlags } from "./LimitFlag.ts"
import { format, withCabinet } from "./Root.ts"
import { EXAMPLES } from "./Examples.ts"

const showIssued = ({ key, ...issued }: IssuedKey) =>
  Effect.flatMap(format, (json) =>
    report(json, { ...apiKeyShape.json(issued), key }, (style) =>
      [style.bold(key), "", "Save it now: it will not be shown again. Send it as: Authorization: Bearer <key>"].join(
        "\n",
      ),
    ),
  )

const add = Command.make(
  "add",
  { name: nameArgument("The name of the key"), expires: expiresFlag },
  ({ name, expires }) =>
    withCabinet({}, () =>
      Effect.flatMap(
        ApiKeys.use((keys) => keys.issue(name, expires)),
        showIssued,
      ),
    ),
).pipe(Command.withDescription("Issue an API key; it is shown only once"))

const list = Command.make("list", idPageFlags("keys"), ({ after, limit }) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const { items: all, more } = yield* ApiKeys.use(({ list: page }) => idPage(page, { after, limit }))
      yield* report(
        yield* format,
        all.map(apiKeyShape.json),
        (style) =>
          `${columns(
            ["ID", "KEY", "ISSUED", "LAST REQUEST", "STATE", "NAME"],
            all.map((key) => [
              String(key.id),
              `${key.prefix}…`,
              key.createdAt,
              key.lastRequestAt ?? "never",
              stateOf(key),
              key.name,
            ]),
            { style, none: after === 0 ? "No keys yet. Issue one with: cabinet key add NAME" : "No more keys." },
          )}${more}`,
      )
    }),
  ),
).pipe(Command.withDescription("List API keys with the time of their last request"))

const revoke = Command.make("revoke", { key: keyArgument }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const key = yield* Effect.flatMap(keyNamed(input.key), (id) => ApiKeys.use((keys) => keys.revoke(id)))
      yield* report(
        yield* format,
        apiKeyShape.json(key),
        () => `Key ${key.id} (${key.name}) is revoked: requests with it now return 401.`,
      )
    }),
  ),
).pipe(Command.withDescription("Revoke an API key immediately; other keys stay valid"))

const rotate = Command.make(
  "rotate",
  {
    key: keyArgument,
    keepOld: keepOldFlag("Keep the old key valid for this long, such as 24h, 30m or 7d; at most 30d"),
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const id = yield* keyNamed(input.key)
        yield* showIssued(yield* ApiKeys.use((keys) => keys.rotate(id, { keepOldSeconds: input.keepOld })))
      }),
    ),
).pipe(
  Command.withDescription(
    "Replace an API key by one of the same name; the old key ends immediately, or after --keep-old",
  ),
)

export const keyCommand = Command.make("key").pipe(
  Command.withExamples(EXAMPLES.key),
  Command.withDescription("Issue and revoke API keys"),
  Command.withSubcommands([add, list, rotate, revoke]),
)
