/**
 * The names that commands had before they were grouped by noun. They still work, but no help shows them: each is an alias
 * of a current command.
 */

/** Flags of `cabinet` itself that take a value: they may precede the command's own words. */
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

/** Pairs of words that moved to another noun. */
const MOVED: Readonly<Record<string, ReadonlyArray<string>>> = { "address cancel": ["delivery", "cancel"] }

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

/** The call with current names; a call without an alias is returned unchanged. */
export const withoutAliases = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first, second] = words(args)
  if (first === undefined) return args
  const word = args[first]!
  // `event 7` was the former `event show 7`.
  if (word === "event" && second !== undefined && /^\d+$/.test(args[second]!))
    return args.toSpliced(first, 1, "event", "show")
  const pair = second === undefined ? undefined : `${word} ${args[second]}`
  const moved = pair !== undefined && Object.hasOwn(MOVED, pair) ? MOVED[pair] : undefined
  if (moved !== undefined) return args.toSpliced(second!, 1, ...moved.slice(1)).toSpliced(first, 1, moved[0]!)
  return Object.hasOwn(ALIASES, word) ? args.toSpliced(first, 1, ...ALIASES[word]!) : args
}
