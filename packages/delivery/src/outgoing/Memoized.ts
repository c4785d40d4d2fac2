/** Caches a pure function's results by text; past this many texts the whole cache is cleared. */
export const memoized = <A extends object | string | null>(
  maxTexts: number,
  compute: (text: string) => A,
): ((text: string) => A) => {
  const known = new Map<string, A>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    if (known.size >= maxTexts) known.clear()
    const now = compute(text)
    known.set(text, now)
    return now
  }
}
