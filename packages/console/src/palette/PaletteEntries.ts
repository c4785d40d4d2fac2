/** The entries of the palette, and which of them a text finds. */

/** The groups, in the order in which they are shown while nothing is typed. */
export const PALETTE_GROUPS = [
  "event",
  "sections",
  "acts",
  "views",
  "tables",
  "sources",
  "inboxes",
  "addresses",
  "polls",
  "search",
] as const
export type PaletteGroup = (typeof PALETTE_GROUPS)[number]

export interface PaletteEntry {
  readonly group: PaletteGroup
  readonly text: string
  /** Below `/console/`. */
  readonly path: string
  /** Shown beside the text, and also searched. */
  readonly note?: string
  /** Searched, but not shown. */
  readonly also?: string
  /** It answers the text itself, so it always stays. */
  readonly always?: true
}

interface FoundGroup {
  readonly group: PaletteGroup
  readonly entries: ReadonlyArray<PaletteEntry>
  /** How many more were found. */
  readonly more: number
}

/** The most entries shown of a group that grows with the cabinet: people type another letter instead of reading on. */
const GROUP_LIMIT = 10
/** No name is longer. */
const TEXT_LIMIT = 200

/** The rank of an entry, 0 for the best; null if the text does not find it. */
const rankOf = ({ text, note = "", also = "", always }: PaletteEntry, wanted: string): number | null => {
  const name = text.toLowerCase()
  const all = `${name} ${note} ${also}`.toLowerCase()
  if (always !== true && !wanted.split(" ").every((word) => all.includes(word))) return null
  if (name.startsWith(wanted)) return 0
  const at = name.indexOf(wanted)
  return at < 0 ? 3 : /[\p{L}\p{N}]/u.test(name[at - 1]!) ? 2 : 1
}

/** The groups with what the text finds, best first; without a text, all in their order. */
export const foundIn = (entries: ReadonlyArray<PaletteEntry>, text: string): ReadonlyArray<FoundGroup> => {
  const wanted = text.slice(0, TEXT_LIMIT).trim().replaceAll(/\s+/g, " ").toLowerCase()
  const found = entries
    .flatMap((entry) => {
      const rank = rankOf(entry, wanted)
      return rank === null ? [] : [{ entry, rank }]
    })
    .toSorted((one, other) => one.rank - other.rank)
  const groups = PALETTE_GROUPS.flatMap((group) => {
    const its = found.filter(({ entry }) => entry.group === group)
    if (its.length === 0) return []
    const shown = its.slice(0, group === "acts" ? its.length : GROUP_LIMIT).map(({ entry }) => entry)
    // What answers the text itself comes first or last; otherwise the group with the best name comes first.
    const best = { event: -1, search: 9 }[group as string] ?? its[0]!.rank
    return [{ group, entries: shown, more: its.length - shown.length, best }]
  })
  return groups.toSorted((one, other) => one.best - other.best)
}
