/** `cabinet token …`: access tokens, with which programs manage a cabinet and upload to it. A token is shown once, at issue. */
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { accessTokenShape } from "@data-cabinet/core/key/AccessToken"
import { MAX_LISTED } from "@data-cabinet/core/key/KeyError"
import { type Role, ROLES } from "@data-cabinet/core/key/Role"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { expiresFlag, stateOf } from "./Times.ts"
import { nameArgument } from "./Named.ts"
import { format, idArgument, withCabinet } from "./Root.ts"
import { idPage, idPageFlags } from "./LimitFlag.ts"
import { EXAMPLES } from "./Examples.ts"

const WHAT_FOR: Readonly<Record<Role, ReadonlyArray<string>>> = {
  owner: ["It has full access to the management API."],
  editor: ["It may use the management API, except for people, tokens and irreversible operations."],
  viewer: ["It may read everything in the management API except secrets."],
  uploader: [
    "Send files with it:",
    "curl -H 'Authorization: Bearer <token>' -F file=@orders.csv <base address>/upload/<source>",
  ],
  reader: ["It reads sources, tables, rows and the feed, by the read API as an API key does."],
}

const flags = {
  role: Flag.Literals("role", ROLES).pipe(
    Flag.withDescription("Permissions of the token (default: uploader, which may only upload files to sources)"),
    Flag.withDefault("uploader" as Role),
  ),
  only: Flag.String("only").pipe(
    Flag.withMetavar("OBJECT"),
    Flag.withDescription(
      "With --role reader: a table or view that it may read, such as sources.orders (with the events of that source); repeatable. Default: everything",
    ),
    Flag.between(0, MAX_LISTED),
  ),
  expires: expiresFlag,
}

const add = Command.make(
  "add",
  { name: nameArgument("The name of the token"), ...flags },
  ({ name, role, only, expires }) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const { token, ...issued } = yield* AccessTokens.use((tokens) =>
          tokens.issue({ name, role, only: only.length === 0 ? null : only, expiresInSeconds: expires }),
        )
        yield* report(yield* format, { ...accessTokenShape.json(issued), token }, (style) =>
          [style.bold(token), "", "Save it now: it will not be shown again.", ...WHAT_FOR[role]].join("\n"),
        )
      }),
    ),
).pipe(Command.withDescription("Issue an access token; it is shown only once"))

const list = Command.make("list", idPageFlags("tokens"), ({ after, limit }) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const { items: all, more } = yield* AccessTokens.use(({ list: page }) => idPage(page, { after, limit }))
      yield* report(
        yield* format,
        all.map(accessTokenShape.json),
        (style) =>
          `${columns(
            ["ID", "TOKEN", "ROLE", "ISSUED", "LAST USED", "STATE", "NAME"],
            all.map((token) => [
              String(token.id),
              `${token.prefix}…`,
              token.only === null
                ? token.role
                : `${token.role}: ${token.only.join(", ") || "nothing, all was dropped"}`,
              token.createdAt,
              token.lastUsedAt ?? "never",
              stateOf(token),
              token.name,
            ]),
            {
              style,
              none:
                after === 0 ? "No tokens yet. Issue one with: cabinet token add NAME --role ROLE" : "No more tokens.",
            },
          )}${more}`,
      )
    }),
  ),
).pipe(Command.withDescription("List access tokens with the time of their last use"))

const revoke = Command.make("revoke", { id: idArgument("ID", "The token's number") }, ({ id }) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const token = yield* AccessTokens.use((tokens) => tokens.revoke(id))
      yield* report(
        yield* format,
        accessTokenShape.json(token),
        () => `Token ${token.id} (${token.name}) is revoked: requests with it now return 401.`,
      )
    }),
  ),
).pipe(Command.withDescription("Revoke an access token immediately; other tokens stay valid"))

export const tokenCommand = Command.make("token").pipe(
  Command.withExamples(EXAMPLES.token),
  Command.withDescription("Issue and revoke access tokens for programs that manage the cabinet or upload files"),
  Command.withSubcommands([add, list, revoke]),
)
