/**
 * The pages for programs that read Markdown, language models above all: each page as it stands in the repository, with links
 * of the site, and `llms.txt`, which lists them (https://llmstxt.org).
 */

export interface ListedPage {
  readonly text: string
  readonly link: string
  readonly file: string
}

export interface Section {
  readonly text: string
  readonly items: ReadonlyArray<ListedPage>
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/

/** Calls `change` with the paragraphs outside of code, since a link's text may go on in the next line, and keeps the others. */
const outsideCode = (text: string, change: (paragraph: string) => string): string => {
  const done: Array<string> = []
  let paragraph: Array<string> = []
  let fence: string | undefined
  const endParagraph = () => {
    if (paragraph.length > 0) done.push(change(paragraph.join("\n")))
    paragraph = []
  }
  for (const line of text.split("\n")) {
    const mark = FENCE.exec(line)?.[1]
    if (fence === undefined && mark === undefined && line !== "") {
      paragraph.push(line)
      continue
    }
    endParagraph()
    done.push(line)
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence) === true) fence = undefined
  }
  endParagraph()
  return done.join("\n")
}

/** A span of code, a picture or a link. */
const PARTS = /(`+)[^`]+\1|(!?)\[((?:[^\]`]|`[^`]*`)*)\]\(([^()\s]+)\)/g

/** `target` gives where a link leads: undefined as it stands, null nowhere. A picture is its description. */
export const withSiteLinks = (text: string, target: (href: string) => string | null | undefined): string =>
  outsideCode(text, (paragraph) =>
    paragraph.replaceAll(PARTS, (whole, code: string | undefined, picture: string, label: string, href: string) => {
      if (code !== undefined) return whole
      if (picture !== "") return `(Picture: ${label})`
      const to = target(href)
      if (to === undefined) return whole
      return to === null ? label : `[${label}](${to})`
    }),
  )

/** The first sentence between the title and the first heading, without links. */
const firstSentence = (text: string): string => {
  const paragraph =
    withSiteLinks(text.split(/^## /m)[0]!, () => null)
      .split(/\n{2,}/)
      .find((part) => /^(?!```)[A-Z`*]/.test(part)) ?? ""
  const [sentence] = paragraph.replaceAll(/\s+/g, " ").split(/(?<=[.:]) (?=[A-Z`])/)
  return sentence!.replace(/:$/, ".")
}

export interface Description {
  readonly title: string
  readonly description: string
  readonly sections: ReadonlyArray<Section>
  readonly read: (file: string) => string
}

/** The address of a page's Markdown. */
export const markdownLink = (link: string): string => `${link.replace(/\/$/, "/index")}.md`

/** What concerns the project itself may be left out by a reader with little room. */
const OPTIONAL = "The project"

export const llmsText = ({ title, description, sections, read }: Description): string =>
  [
    `# ${title}`,
    `> ${description}`,
    "Each page is also there in HTML, at its address without `.md`.",
    ...sections.map(({ text, items }) =>
      [
        `## ${text === OPTIONAL ? "Optional" : text}`,
        "",
        ...items.map((item) => {
          const sentence = firstSentence(read(item.file))
          return `- [${item.text}](${markdownLink(item.link)})${sentence === "" ? "" : `: ${sentence}`}`
        }),
      ].join("\n"),
    ),
    "",
  ]
    .join("\n\n")
    .trimEnd() + "\n"
