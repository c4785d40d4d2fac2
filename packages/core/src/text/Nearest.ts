/** Finds the word that a person most likely meant, for "Did you mean …?". */

/** Longer words are not compared, so that the work stays small for any input. */
const MAX_LENGTH = 64

/** How many letters must be inserted, removed, replaced or swapped with their neighbour. */
const distance = (left: string, right: string): number => {
  const rows = [Array.from({ length: right.length + 1 }, (_, at) => at)]
  for (let at = 1; at <= left.length; at++) {
    const above = rows[at - 1]!
    const row = [at]
    for (let to = 1; to <= right.length; to++) {
      const same = left[at - 1] === right[to - 1]
      const swapped = at > 1 && to > 1 && left[at - 1] === right[to - 2] && left[at - 2] === right[to - 1]
      row[to] = Math.min(
        above[to]! + 1,
        row[to - 1]! + 1,
        above[to - 1]! + (same ? 0 : 1),
        swapped ? rows[at - 2]![to - 2]! + 1 : Number.POSITIVE_INFINITY,
      )
    }
    rows.push(row)
  }
  return rows[left.length]![right.length]!
}

/** The nearest candidate, if it differs from the word in at most a third of its letters; else null. Letter case is ignored. */
export const nearest = (word: string, candidates: Iterable<string>): string | null => {
  if (word.length > MAX_LENGTH) return null
  const wanted = word.toLowerCase()
  let best: { readonly candidate: string; readonly far: number } | null = null
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > MAX_LENGTH / 3 || candidate.length > MAX_LENGTH) continue
    const far = distance(wanted, candidate.toLowerCase())
    if (far > Math.max(1, Math.floor(word.length / 3))) continue
    if (best === null || far < best.far) best = { candidate, far }
  }
  return best?.candidate ?? null
}
