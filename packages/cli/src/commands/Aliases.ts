/**
 * The names that commands had before they were grouped by noun. They still work, but no help shows them: each is an alias
 * of a current command.
 */

/** Flags of `cabinet` itself that take a value: they may precede the command's own words. */
const WITH_VALUE = new Set(["--get", "--cabinet", "--server", "--database-url", "--data-dir"])

const ALIASES: ReadonlyMap<string, ReadonlyArray<string>> = new Map(
  Object.entries({
    work: ["worker"],
    events: ["event", "list"],
    trash: ["event", "trash"],
    untrash: ["event", "restore"],
    purge: ["event", "purge"],
    column: ["table", "column"],
    "search-index": ["table", "search-index"],
    expose: ["schema", "expose"],
    hide: ["schema", "hide"],
    operator: ["token"],
    cabinets: ["tenant"],
  }),
)

/** Two words that moved to another noun. */
const MOVED: ReadonlyMap<string, readonly [string, string]> = new Map([["address cancel", ["delivery", "cancel"]]])

/** The positions of the words that are neither flags of `cabinet` itself nor their values. */
const words = (args: ReadonlyArray<string>): ReadonlyArray<number> => {
  const places: Array<number> = []
  for (let at = 0; at < args.length && args[at] !== "--"; at++) {
    if (WITH_VALUE.has(args[at]!)) at++
    else if (!args[at]!.startsWith("-")) places.push(at)
  }
  return places
}

/** The command, whatever flags precede it. */
export const firstWord = (args: ReadonlyArray<string>): string | undefined => args[words(args)[0] ?? args.length]

/** The call with these words replaced by others. */
const reworded = (args: ReadonlyArray<string>, at: ReadonlyMap<number, ReadonlyArray<string>>): ReadonlyArray<string> =>
  args.flatMap((word, place) => at.get(place) ?? [word])

/** The call with current words; a call without old words stays the same. */
export const withoutAliases = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first, second] = words(args)
  if (first === undefined) return args
  const word = args[first]!
  if (second !== undefined) {
    const next = args[second]!
    // `event 7` used to mean what `event show 7` means.
    if (word === "event" && /^\d+$/.test(next)) return reworded(args, new Map([[first, ["event", "show"]]]))
    const moved = MOVED.get(`${word} ${next}`)
    if (moved !== undefined)
      return reworded(
        args,
        new Map([
          [first, [moved[0]]],
          [second, [moved[1]]],
        ]),
      )
  }
  const today = ALIASES.get(word)
  return today === undefined ? args : reworded(args, new Map([[first, today]]))
}
