/**
 * Finds the tags of our own markup by their places in the text, and changes the text there. It reads only what `markup` writes:
 * every attribute is quoted, and every `<`, `>` and `"` in a value is escaped.
 */
import { escapeHtml, unescapeHtml } from "@data-cabinet/http-node/html/Html"

export interface Tag {
  /** In lower case; the end tag of an element has `closes`. */
  readonly name: string
  readonly closes: boolean
  readonly start: number
  /** After its `>`. */
  readonly end: number
  /** Unescaped; an attribute without a value is "". */
  readonly attributes: ReadonlyMap<string, string>
  /** The places of the tags around it in the list of all tags, the nearest last. */
  readonly around: ReadonlyArray<number>
  /** The place of its end tag in that list; its own place if it has no end tag. */
  readonly closedBy: number
}

const TAG = /<(\/?)([a-z][a-z0-9]*)((?:\s+[\w:-]+(?:="[^"]*")?)*)\s*\/?>/gi
const ATTRIBUTE = /([\w:-]+)(?:="([^"]*)")?/g

/** Elements without content, which have no end tag. */
const VOID: ReadonlySet<string> = new Set(["input", "br", "hr", "img", "path", "rect", "circle", "meta", "link"])

/** A screen can have half a million tags, but a form needs only a few; the rest is computed on demand. */
class FoundTag implements Tag {
  #attributes: ReadonlyMap<string, string> | null = null
  readonly #all: ReadonlyArray<FoundTag>
  readonly #parent: number
  readonly #rest: string
  readonly name: string
  readonly closes: boolean
  readonly start: number
  readonly end: number
  closedBy: number

  constructor(
    [whole, slash, name = "", rest = ""]: RegExpExecArray,
    start: number,
    all: ReadonlyArray<FoundTag>,
    parent: number,
  ) {
    this.#all = all
    this.#parent = parent
    this.#rest = rest
    this.name = name.toLowerCase()
    this.closes = slash === "/"
    this.start = start
    this.end = start + whole.length
    this.closedBy = all.length
  }

  get attributes(): ReadonlyMap<string, string> {
    this.#attributes ??= new Map(
      [...this.#rest.matchAll(ATTRIBUTE)].map(([, key, value = ""]) => [key!.toLowerCase(), unescapeHtml(value)]),
    )
    return this.#attributes
  }

  get around(): ReadonlyArray<number> {
    const places: Array<number> = []
    for (let at = this.#parent; at >= 0; at = this.#all[at]!.#parent) places.push(at)
    return places.toReversed()
  }
}

export const tagsOf = (html: string): ReadonlyArray<Tag> => {
  const tags: Array<FoundTag> = []
  const open: Array<number> = []
  for (const match of html.matchAll(TAG)) {
    const at = tags.length
    const tag = new FoundTag(match, match.index, tags, open.at(-1) ?? -1)
    tags.push(tag)
    if (tag.closes) {
      // An end tag without its beginning, such as one the browser adds by itself, closes nothing.
      const opened = open.findLastIndex((one) => tags[one]!.name === tag.name)
      if (opened >= 0) for (const one of open.splice(opened)) tags[one]!.closedBy = at
    } else if (!VOID.has(tag.name) && !match[0].endsWith("/>")) {
      open.push(at)
    }
  }
  return tags
}

/** A text that replaces the part between two positions. */
export interface Change {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** Applies changes. Those at one place keep the order of the list. */
export const changed = (html: string, changes: ReadonlyArray<Change>): string => {
  let [text, at] = ["", 0]
  for (const { from, to, text: put } of changes.toSorted((one, other) => one.from - other.from)) {
    text += html.slice(at, from) + put
    at = to
  }
  return text + html.slice(at)
}

/** The tag with its attributes changed: a text sets one, `null` removes it. */
export const withAttributes = (
  html: string,
  { start, end, name, attributes }: Tag,
  changes: Readonly<Record<string, string | null>>,
): Change => {
  const all = new Map<string, string | null>([...attributes, ...Object.entries(changes)])
  const written = [...all].flatMap(([key, value]) =>
    value === null ? [] : [value === "" && key !== "value" ? ` ${key}` : ` ${key}="${escapeHtml(value)}"`],
  )
  return { from: start, to: end, text: `<${name}${written.join("")}${html[end - 2] === "/" ? "/" : ""}>` }
}
