/** Where a remote cabinet is, and the token that opens it: from the environment or a file, never from an argument. */
import { readFileSync } from "node:fs"
import { Effect } from "effect"
import { CommandError } from "../error/CommandError.ts"

const usage = (message: string) => new CommandError({ code: "usage", message })

export interface RemoteAccess {
  readonly url: string
  readonly token: string
}

const withoutTrailingSlashes = (text: string): string => {
  let end = text.length
  while (text[end - 1] === "/") end--
  return text.slice(0, end)
}

const baseOf = (server: string): Effect.Effect<string, CommandError> => {
  const url = URL.parse(server)
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    return Effect.fail(usage("--server must be the base address of a cabinet, such as https://data.example.com."))
  }
  if (url.username !== "" || url.password !== "") {
    return Effect.fail(usage("--server must be an address without a user and password: the token is in CABINET_TOKEN."))
  }
  return Effect.succeed(withoutTrailingSlashes(`${url.origin}${url.pathname}`))
}

const tokenIn = (env: NodeJS.ProcessEnv): Effect.Effect<string, CommandError> =>
  Effect.gen(function* () {
    const { CABINET_TOKEN: given = "", CABINET_TOKEN_FILE: file = "" } = env
    if (given !== "" && file !== "") return yield* usage("Set CABINET_TOKEN or CABINET_TOKEN_FILE, not both.")
    if (given === "" && file === "") {
      const message =
        "A remote cabinet needs an access token: set CABINET_TOKEN, or CABINET_TOKEN_FILE to a file with it."
      return yield* usage(message)
    }
    const text = yield* Effect.try({
      try: () => (file === "" ? given : readFileSync(file, "utf8")),
      catch: (cause) => usage(`CABINET_TOKEN_FILE cannot be read: ${cause instanceof Error ? cause.message : "?"}.`),
    })
    const token = text.trim()
    // Node's error about an invalid header value would quote the token.
    if (/^[\x21-\x7e]+$/.test(token)) return token
    return yield* usage(`${file === "" ? "CABINET_TOKEN" : "The file of CABINET_TOKEN_FILE"} is not an access token.`)
  })

/** `shownOnly`: requests are shown, which needs no token. */
export const remoteAccess = Effect.fnUntraced(function* (server: string, env: NodeJS.ProcessEnv, shownOnly: boolean) {
  const url = yield* baseOf(server)
  const token = yield* tokenIn(env).pipe(Effect.catch((error) => (shownOnly ? Effect.succeed("") : Effect.fail(error))))
  return { url, token } satisfies RemoteAccess
})
