/** `cabinet token …`: access tokens, with which programs manage a cabinet and upload to it. A token is shown once, at issue. */
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { accessTokenJson } from "@data-cabinet/core/key/KeyJson"
import { type Role, ROLES } from "@data-cabinet/core/key/Role"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { expiresFlag, stateOf } from "./Expires.ts"
import { format, idArgument, withCabinet } from "./Root.ts"

const WHAT_FOR: Readonly<Record<Role, ReadonlyArray<string>>> = {
  owner: ["It may do everything that the management API can do."],
  editor: ["It may do what the management API can do, but for people, tokens and what cannot be undone."],
  viewer: ["It reads everything over the management API, but no secrets."],
  uploader: [
    "Send files with it:",
    "curl -H 'Authorization: Bearer <token>' -F file=@orders.csv <base address>/upload/<source>",
  ],
  reader: ["It reads tables, rows and the feed over the management API."],
}

const flags = {
  role: Flag.Literals("role", ROLES).pipe(
    Flag.withDescription("What it may do (default: uploader, files into sources and nothing else)"),
    Flag.withDefault("uploader" as Role),
  ),
  expires: expiresFlag,
}

const add = Command.make("add", { name: Argument.String("NAME"), ...flags }, ({ name, role, expires }) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const { token, ...issued } = yield* AccessTokens.use((tokens) =>
        tokens.issue({ name, role, expiresInSeconds: expires }),
      )
      yield* report(yield* format, { ...accessTokenJson(issued), token }, (style) =>
        [style.bold(token), "", "Keep it now: it is not shown again.", ...WHAT_FOR[role]].join("\n"),
      )
    }),
  ),
).pipe(Command.withDescription("Issue a token; it is shown this once"))

const list = Command.make("list", {}, () =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const all = yield* AccessTokens.use((tokens) => tokens.list)
      yield* report(yield* format, all.map(accessTokenJson), (style) =>
        columns(
          ["ID", "TOKEN", "ROLE", "ISSUED", "LAST USED", "STATE", "NAME"],
          all.map((token) => [
            String(token.id),
            `${token.prefix}…`,
            token.role,
            token.createdAt,
            token.lastUsedAt ?? "never",
            stateOf(token),
            token.name,
          ]),
          { style, none: "No tokens yet. Issue one with: cabinet token add NAME --role ROLE" },
        ),
      )
    }),
  ),
).pipe(Command.withDescription("List the tokens, with the time of their last use"))

const revoke = Command.make("revoke", { id: idArgument("ID", "The token's number") }, ({ id }) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const token = yield* AccessTokens.use((tokens) => tokens.revoke(id))
      yield* report(
        yield* format,
        accessTokenJson(token),
        () => `Token ${token.id} (${token.name}) is revoked: requests with it answer 401 from now on.`,
      )
    }),
  ),
).pipe(Command.withDescription("Revoke a token at once; the others stay good"))

export const tokenCommand = Command.make("token").pipe(
  Command.withDescription("Issue and revoke access tokens, with which programs manage the cabinet and upload to it"),
  Command.withSubcommands([add, list, revoke]),
)
