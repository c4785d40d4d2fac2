/** Parses the syntax of `LinearPattern`: JavaScript's with the flag `u`, without the parts that need backtracking. */

/** The deepest nesting of parentheses. */
const MAX_DEPTH = 50

/** Why an expression is refused. */
export class Refused extends Error {}

/** Ends the parsing. */
export const refuse = (what: string): never => {
  throw new Refused(what)
}

/** An expression. */
export type Tree =
  | { readonly is: "character"; readonly source: string }
  | { readonly is: "begin" | "end" }
  | { readonly is: "all" | "one"; readonly of: ReadonlyArray<Tree> }
  | { readonly is: "repeat"; readonly of: Tree; readonly least: number; readonly most: number }

/** Parses an expression that JavaScript accepts. */
export class PatternReader {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  read(depth = 0): Tree {
    if (depth > MAX_DEPTH) refuse(`its parentheses are nested more than ${MAX_DEPTH} levels deep`)
    const branches: Array<Tree> = []
    do branches.push(this.#branch(depth))
    while (this.#skip("|"))
    return branches.length === 1 ? branches[0]! : { is: "one", of: branches }
  }

  #branch(depth: number): Tree {
    const of: Array<Tree> = []
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at]!)) of.push(this.#repeated(depth))
    return { is: "all", of }
  }

  #skip(text: string): boolean {
    const found = this.#source.startsWith(text, this.#at)
    if (found) this.#at += text.length
    return found
  }

  /** Takes what a sticky expression matches here; null without a match. */
  #take(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at
    const match = expression.exec(this.#source)
    if (match !== null) this.#at = expression.lastIndex
    return match
  }

  #repeated(depth: number): Tree {
    const of = this.#atom(depth)
    const match = this.#take(/([*+?]|\{(\d+)(,(\d*))?\})\??/uy)
    if (match === null) return of
    const { 1: sign, 2: least, 3: comma, 4: most } = match
    if (sign === "*") return { is: "repeat", of, least: 0, most: Number.POSITIVE_INFINITY }
    if (sign === "+") return { is: "repeat", of, least: 1, most: Number.POSITIVE_INFINITY }
    if (sign === "?") return { is: "repeat", of, least: 0, most: 1 }
    const to = comma === undefined ? Number(least) : most === "" ? Number.POSITIVE_INFINITY : Number(most)
    return { is: "repeat", of, least: Number(least), most: to }
  }

  #atom(depth: number): Tree {
    if (this.#skip("^")) return { is: "begin" }
    if (this.#skip("$")) return { is: "end" }
    if (this.#take(/\((?:\?:|\?<[^=!>]+>)?(?!\?)/uy) !== null) {
      const inner = this.read(depth + 1)
      this.#at++
      return inner
    }
    if (this.#skip("(?")) return refuse("it has a lookahead or a lookbehind, or changes flags")
    if (this.#take(/\\[bB1-9k]/uy) !== null) return refuse("it has a back reference, or \\b")
    const character = this.#take(/\[(?:[^\]\\]|\\.)*\]|\\u\{[^}]*\}|\\u.{4}|\\x..|\\c.|\\[pP]\{[^}]*\}|\\.|./suy)!
    return { is: "character", source: character[0] }
  }
}
