/**
 * Regular expressions whose time is proportional to the length of the text, for every expression: all alternatives are followed at
 * once, while JavaScript tries one after another. So an owner's `pattern` and a sender's text cannot block the process.
 *
 * The syntax is JavaScript's with the flag `u`, without the parts that need backtracking: back references, lookahead and lookbehind.
 */
import { Result } from "effect"
import { PatternReader, refuse, Refused, type Tree } from "./PatternSyntax.ts"

/** The most instructions of an expression: `{n,m}` repeats those before it. */
const MAX_INSTRUCTIONS = 2_000

/** `character` takes one character; `begin` and `end` match only at the ends of the text, and take none. */
type Instruction =
  | { readonly op: "character"; readonly is: (character: string) => boolean }
  | { readonly op: "either"; readonly first: number; readonly second: number }
  | { readonly op: "jump"; readonly to: number }
  | { readonly op: "begin" | "end" | "found" }

/** A compiled expression. */
export interface LinearPattern {
  /** Whether a text has a match; `spend` is called with the number of instructions for each character. */
  readonly matches: (text: string, spend: (steps: number) => void) => boolean
  /** The number of its instructions. */
  readonly size: number
}

const ASCII = 128

/** Whether a character matches this part of an expression; results for ASCII are kept. */
const characterOf = (source: string): ((character: string) => boolean) => {
  const expression = new RegExp(`^(?:${source})$`, "u")
  const known: Array<boolean | undefined> = []
  return (character) => {
    const code = character.codePointAt(0)!
    return code < ASCII ? (known[code] ??= expression.test(character)) : expression.test(character)
  }
}

class Program {
  readonly instructions: Array<Instruction> = []
  readonly #most: number
  readonly #characters = new Map<string, (character: string) => boolean>()

  constructor(most: number) {
    this.#most = most
  }

  #add(instruction: Instruction): number {
    if (this.instructions.length >= this.#most) refuse("it repeats too much")
    return this.instructions.push(instruction) - 1
  }

  /** Reserves the place of an instruction whose targets are known only later. */
  #later(): { readonly at: number; readonly be: (instruction: Instruction) => void } {
    const at = this.#add({ op: "found" })
    return { at, be: (instruction) => (this.instructions[at] = instruction) }
  }

  #either(first: Tree | null, second: () => void): void {
    const choice = this.#later()
    if (first !== null) this.add(first)
    const skip = this.#later()
    choice.be({ op: "either", first: choice.at + 1, second: this.instructions.length })
    second()
    skip.be({ op: "jump", to: this.instructions.length })
  }

  add(tree: Tree): void {
    switch (tree.is) {
      case "character":
        this.#add({ op: "character", is: this.#characterOf(tree.source) })
        return
      case "begin":
      case "end":
        this.#add({ op: tree.is })
        return
      case "all":
        for (const part of tree.of) this.add(part)
        return
      case "one":
        this.#oneOf(tree.of, 0)
        return
      case "repeat":
        this.#repeat(tree.of, tree.least, tree.most)
    }
  }

  /** Equal parts share one test. */
  #characterOf(source: string): (character: string) => boolean {
    const known = this.#characters.get(source)
    if (known !== undefined) return known
    const is = characterOf(source)
    this.#characters.set(source, is)
    return is
  }

  #oneOf(of: ReadonlyArray<Tree>, from: number): void {
    if (from === of.length - 1) this.add(of[from]!)
    else this.#either(of[from]!, () => this.#oneOf(of, from + 1))
  }

  #repeat(of: Tree, least: number, most: number): void {
    const before = this.instructions.length
    for (let n = 0; n < least; n++) {
      this.add(of)
      // Without instructions, repeating changes nothing.
      if (this.instructions.length === before) return
    }
    if (most === Number.POSITIVE_INFINITY) {
      const choice = this.#later()
      this.add(of)
      this.#add({ op: "jump", to: choice.at })
      choice.be({ op: "either", first: choice.at + 1, second: this.instructions.length })
      return
    }
    const choices = Array.from({ length: Math.min(most - least, this.#most) }, () => {
      const choice = this.#later()
      this.add(of)
      return choice
    })
    for (const { at, be } of choices) be({ op: "either", first: at + 1, second: this.instructions.length })
  }

  end(): ReadonlyArray<Instruction> {
    this.#add({ op: "found" })
    return this.instructions
  }
}

/** Follows all ways through the instructions at once. */
const matches = (instructions: ReadonlyArray<Instruction>, text: string, spend: (steps: number) => void): boolean => {
  const seen = new Int32Array(instructions.length).fill(-1)
  let ways: Array<number> = []
  let place = 0
  let index = 0
  let steps = 0
  /** Adds the instructions that are reached without taking a character; true if the expression has matched. */
  const follow = (from: number, to: Array<number>): boolean => {
    const open = [from]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      steps++
      if (seen[at] === place) continue
      seen[at] = place
      const instruction = instructions[at]!
      if (instruction.op === "found") return true
      if (instruction.op === "character") to.push(at)
      else if (instruction.op === "jump") open.push(instruction.to)
      else if (instruction.op === "either") open.push(instruction.second, instruction.first)
      else if (index === (instruction.op === "begin" ? 0 : text.length)) open.push(at + 1)
    }
    return false
  }
  // A long expression may be tried on many short texts.
  spend(instructions.length >> 4)
  if (follow(0, ways)) return true
  for (const character of text) {
    spend(1 + ways.length + steps)
    steps = 0
    const next: Array<number> = []
    place++
    index += character.length
    for (const at of ways) {
      const instruction = instructions[at]!
      if (instruction.op === "character" && instruction.is(character) && follow(at + 1, next)) return true
    }
    if (follow(0, next)) return true
    ways = next
  }
  return false
}

/** Fails with the reason in words. `room`: the most instructions. */
export const linearPattern = (source: string, room: number): Result.Result<LinearPattern, string> => {
  try {
    RegExp(source, "u")
  } catch {
    return Result.fail("it is not a regular expression")
  }
  try {
    const program = new Program(Math.min(room, MAX_INSTRUCTIONS))
    program.add(new PatternReader(source).read())
    const instructions = program.end()
    return Result.succeed({
      matches: (text, spend) => matches(instructions, text, spend),
      size: instructions.length,
    })
  } catch (fault) {
    if (fault instanceof Refused) return Result.fail(fault.message)
    throw fault
  }
}
