/** `cabinet token …`: the tokens of the HTTP upload. A token is shown once, when it is issued. */
import { uploadTokenJson } from "@data-cabinet/core/key/KeyJson"
import { UploadTokens } from "@data-cabinet/core/key/UploadTokens"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { format, idArgument, withCabinet } from "./Root.ts"

const add = Command.make("add", { name: Argument.String("NAME") }, ({ name }) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const { token, ...issued } = yield* UploadTokens.use((tokens) => tokens.issue(name))
      yield* report(yield* format, { ...uploadTokenJson(issued), token }, (style) =>
        [
          style.bold(token),
          "",
          "Keep it now: it is not shown again. Send files with it:",
          "curl -H 'Authorization: Bearer <token>' -F file=@orders.csv <base address>/upload/<source>",
        ].join("\n"),
      )
    }),
  ),
).pipe(Command.withDescription("Issue a token; it is shown this once"))

const list = Command.make("list", {}, () =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const all = yield* UploadTokens.use((tokens) => tokens.list)
      yield* report(yield* format, all.map(uploadTokenJson), (style) =>
        columns(
          ["ID", "TOKEN", "ISSUED", "LAST USED", "STATE", "NAME"],
          all.map((token) => [
            String(token.id),
            `${token.prefix}…`,
            token.createdAt,
            token.lastUsedAt ?? "never",
            token.revokedAt === null ? "good" : `revoked ${token.revokedAt}`,
            token.name,
          ]),
          { style, none: "No operators yet. Issue a token with: cabinet token add NAME" },
        ),
      )
    }),
  ),
).pipe(Command.withDescription("List the operators' tokens, with the time of their last use"))

const revoke = Command.make("revoke", { id: idArgument("ID", "The token's number") }, ({ id }) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const token = yield* UploadTokens.use((tokens) => tokens.revoke(id))
      yield* report(
        yield* format,
        uploadTokenJson(token),
        () => `Token ${token.id} (${token.name}) is revoked: uploads with the token answer 401 from now on.`,
      )
    }),
  ),
).pipe(Command.withDescription("Revoke a token at once; the others stay good"))

export const tokenCommand = Command.make("token").pipe(
  Command.withDescription("Issue and revoke tokens for uploads over HTTP"),
  Command.withSubcommands([add, list, revoke]),
)
