/** Runs commands in this process, and lists them all. */
import { cabinet } from "data-cabinet/commands/Cabinet"
import { runCommand } from "data-cabinet/commands/RunCommand"
import { Effect } from "effect"
import { vi } from "vitest"

interface Tree {
  readonly name: string
  /** A command with arguments does something by itself, even if it has subcommands. */
  readonly config: { readonly arguments: ReadonlyArray<unknown> }
  readonly subcommands: ReadonlyArray<{ readonly commands: ReadonlyArray<Tree> }>
}

const below = ({ subcommands, config }: Tree, path: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...(subcommands.length === 0 || config.arguments.length > 0 ? [path.join(" ")] : []),
  ...subcommands.flatMap(({ commands }) => commands.flatMap((each) => below(each, [...path, each.name]))),
]

/** The names of all commands that do something. */
export const leaves: ReadonlyArray<string> = below(cabinet as unknown as Tree, [])

export interface Called {
  readonly code: number
  /** On stdout. */
  readonly printed: string
  /** On stderr. */
  readonly said: string
}

/** Runs one call to its end. */
export const call = async (args: ReadonlyArray<string>): Promise<Called> => {
  let [printed, said] = ["", ""]
  const taken = (told: unknown) => {
    if (typeof told === "function") (told as () => void)()
    return true
  }
  const stdout = vi.spyOn(process.stdout, "write").mockImplementation((text, told) => {
    printed += String(text)
    return taken(told)
  })
  const stderr = vi.spyOn(process.stderr, "write").mockImplementation((text, told) => {
    said += String(text)
    return taken(told)
  })
  const log = vi.spyOn(console, "log").mockImplementation((text) => void (printed += `${text}\n`))
  const error = vi.spyOn(console, "error").mockImplementation((text) => void (said += `${text}\n`))
  try {
    const code = await Effect.runPromise(runCommand(args, "0.0.0"))
    return { code, printed, said }
  } finally {
    for (const spy of [stdout, stderr, log, error]) spy.mockRestore()
  }
}
