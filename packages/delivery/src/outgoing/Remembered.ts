/** What a function always answers alike is asked once for each text; past so many texts all of them are forgotten. */
export const remembered = <A extends object | string | null>(
  most: number,
  answer: (text: string) => A,
): ((text: string) => A) => {
  const known = new Map<string, A>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    if (known.size >= most) known.clear()
    const now = answer(text)
    known.set(text, now)
    return now
  }
}
