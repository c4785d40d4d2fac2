/** Drops the first lines of a text that comes in pieces. A line ends with LF, CR LF or CR. */
export class LineSkip {
  #left: number
  /** The last line left out ended with CR, so a LF that follows belongs to it. */
  #afterCr = false

  constructor(lines: number) {
    this.#left = lines
  }

  /** What remains of the next piece. */
  pass(text: string): string {
    if (this.#left === 0 && !this.#afterCr) return text
    let at = 0
    while (at < text.length) {
      const code = text.charCodeAt(at)
      if (this.#afterCr) {
        this.#afterCr = false
        if (code === 10) {
          at++
          continue
        }
      }
      if (this.#left === 0) break
      at++
      if (code !== 10 && code !== 13) continue
      this.#left--
      this.#afterCr = code === 13
    }
    return text.slice(at)
  }
}
