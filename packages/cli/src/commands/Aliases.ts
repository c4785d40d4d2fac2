/**
 * The words that commands had before they were grouped by noun. They go on working, and no help shows them: each stands for the
 * words of today.
 */

/** Flags of `cabinet` itself that are followed by a value: what may stand before the command's own words. */
const WITH_VALUE = new Set(["--get", "--cabinet", "--database-url", "--data-dir"])

const ALIASES: Readonly<Record<string, ReadonlyArray<string>>> = {
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
}

/** Two words that moved to another noun. */
const MOVED: Readonly<Record<string, ReadonlyArray<string>>> = { "address cancel": ["delivery", "cancel"] }

/** The places of the words that are no flags of `cabinet` itself and no values of these. */
const words = (args: ReadonlyArray<string>): ReadonlyArray<number> => {
  const places: Array<number> = []
  for (let at = 0; at < args.length && args[at] !== "--"; at++) {
    if (WITH_VALUE.has(args[at]!)) at++
    else if (!args[at]!.startsWith("-")) places.push(at)
  }
  return places
}

/** The command that is meant, whatever flags stand before it. */
export const firstWord = (args: ReadonlyArray<string>): string | undefined => args[words(args)[0] ?? args.length]

/** The call in the words of today; one that has none of the old words is the same. */
export const withoutAliases = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first, second] = words(args)
  if (first === undefined) return args
  const word = args[first]!
  // `event 7` was what `event show 7` is.
  if (word === "event" && second !== undefined && /^\d+$/.test(args[second]!))
    return args.toSpliced(first, 1, "event", "show")
  const pair = second === undefined ? undefined : `${word} ${args[second]}`
  const moved = pair !== undefined && Object.hasOwn(MOVED, pair) ? MOVED[pair] : undefined
  if (moved !== undefined) return args.toSpliced(second!, 1, ...moved.slice(1)).toSpliced(first, 1, moved[0]!)
  return Object.hasOwn(ALIASES, word) ? args.toSpliced(first, 1, ...ALIASES[word]!) : args
}
