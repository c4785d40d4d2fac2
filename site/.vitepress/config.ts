/**
 * `docs/` as a site, with the README and what else is written for people. The pages are the files of the repository as they
 * stand: a link from one to another is a link of the site, a link to a program leads to a copy of its text, and a link to a
 * directory is its name. Beside each page lies its Markdown, and `llms.txt` lists the pages. Nothing is loaded from elsewhere, so the site works without a network. A dead link, and a page that
 * no menu names, fail the build.
 */
import { cpSync, globSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join, posix } from "node:path"
import { fileURLToPath } from "node:url"
import { defineConfig, type UserConfig } from "vitepress"
import { llmsText, markdownLink, withSiteLinks } from "./markdownPages.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** The page of a file; the README is where one starts. */
const addressOf = (file: string): string => {
  if (file === "site/index.md") return "index"
  if (file === "README.md") return "start"
  const name = file
    .replace(/^docs\//, "")
    .replace(/^site\/reference\//, "library/")
    .replace(/\.md$/, "")
  return name.includes("/") ? name.replace(/README$/, "index") : name.toLowerCase()
}

const linkOf = (file: string): string => `/${addressOf(file).replace(/(^|\/)index$/, "$1")}`

/** Pages are rendered under their address. */
const sources = new Map(
  globSync(["*.md", "docs/**/*.md", "site/index.md", "site/reference/[a-z]*.md"], { cwd: root }).map((file) => [
    `${addressOf(file)}.md`,
    file,
  ]),
)

const page = (file: string, text?: string) => ({
  text: text ?? /^# (.*)$/m.exec(readFileSync(join(root, file), "utf8"))![1]!,
  link: linkOf(file),
  file,
})

const docs = (...names: ReadonlyArray<string>) => names.map((name) => page(`docs/${name}.md`))

/** Pages that typedoc makes of what the library exports. */
const LIBRARY = ["openCabinet", "openCabinets", "client"]

const SIDEBAR = [
  { text: "Start", items: [page("README.md", "A five-minute tour"), page("docs/comparison.md")] },
  {
    text: "Guides",
    items: docs(
      "guides/collect-a-form",
      "guides/forms-without-spam",
      "guides/receive-github-webhooks",
      "guides/feed-a-warehouse",
      "guides/deliver-to-many",
      "guides/tell-slack",
      "guides/send-mail",
      "guides/embed-in-next",
    ),
  },
  { text: "Intake", items: docs("intake-http", "intake", "verification", "files", "polling", "shapes") },
  { text: "Reading", items: docs("rows", "exports", "reports", "feed", "api", "agents", "errors") },
  { text: "Deliveries", items: docs("delivery", "delivery-bodies", "notices") },
  { text: "Managing", items: docs("console", "cabinet-file", "management-api", "retention", "cold-history") },
  {
    text: "In a program",
    items: [
      ...docs("embedding", "client"),
      ...LIBRARY.map((name) => page(`site/reference/${name}.md`, `Reference: ${name}`)),
    ],
  },
  {
    text: "Running it",
    items: docs(
      "operations",
      "upgrading",
      "processes",
      "beyond-one-machine",
      "high-availability",
      "managed-postgres",
      "observability",
      "alerts",
      "performance",
      "scale",
    ),
  },
  {
    text: "The project",
    items: [
      ...docs("glossary", "mutation"),
      page("docs/decisions/README.md"),
      page("ARCHITECTURE.md", "Architecture"),
      page("CONTRIBUTING.md", "Contributing"),
      page("SECURITY.md", "Security"),
      page("CHANGELOG.md", "Changelog"),
    ],
  },
]

/** Pages that other pages lead to. */
const BEHIND = /^docs\/(decisions|lab-notes)\//

const named = new Set(SIDEBAR.flatMap(({ items }) => items.map(({ file }) => file)))
for (const file of globSync("docs/**/*.md", { cwd: root })) {
  if (!named.has(file) && !BEHIND.test(file)) throw new Error(`No menu of the site names ${file}.`)
}

/** Files that are no pages, and that a page links to. */
const linked = new Set<string>()

/** Where a link in a file leads on the site: undefined as it stands, null nowhere. */
const targetOf = (from: string, href: string): string | null | undefined => {
  if (/^([a-z]+:|#|\/)/.test(href)) return undefined
  const path = posix.join(posix.dirname(from), decodeURI(href.replace(/[?#].*/, "")))
  const isPage = sources.get(`${addressOf(path)}.md`) === path
  if (isPage) return linkOf(path) + (/[?#].*/.exec(href)?.[0] ?? "")
  const found = statSync(join(root, path), { throwIfNoEntry: false })
  if (found === undefined) throw new Error(`${from} links to ${path}, which does not exist.`)
  if (!found.isDirectory()) {
    linked.add(path)
    return `/programs/${path}.txt`
  }
  const readme = posix.join(path, "README.md")
  return sources.has(`${addressOf(readme)}.md`) ? linkOf(readme) : null
}

type Markdown = Parameters<NonNullable<NonNullable<UserConfig["markdown"]>["config"]>>[0]

const relink = (markdown: Markdown): void => {
  markdown.core.ruler.push("links-to-files", ({ tokens, env }) => {
    // The search index names a page by its file.
    const { relativePath } = env as { readonly relativePath: string }
    const from = sources.get(relativePath) ?? relativePath
    for (const { children } of tokens) {
      const dropped: Array<boolean> = []
      for (const token of children ?? []) {
        if (token.type === "link_open") {
          const to = targetOf(from, token.attrGet("href")!)
          dropped.push(to === null)
          if (to === null) token.hidden = true
          else if (to !== undefined) {
            token.attrSet("href", to)
            if (to.startsWith("/programs/")) token.attrSet("target", "_blank")
          }
        } else if (token.type === "link_close") token.hidden = dropped.pop()!
        // Vue would evaluate what stands between braces.
        else if (token.type === "code_inline") token.attrSet("v-pre", "")
      }
      if (children !== null && children !== undefined) {
        children.splice(0, children.length, ...children.filter(({ type, hidden }) => !(hidden && /^link_/.test(type))))
      }
    }
  })
}

/** VitePress's own copy: the pages lie outside of its directory. */
const vue = dirname(
  createRequire(realpathSync(join(root, "site/node_modules/vitepress/package.json"))).resolve("vue/package.json"),
)

const TITLE = "Data Cabinet"
const DESCRIPTION =
  "Takes in what the outside world sends, keeps it as sent, and serves it as tables, a feed and signed deliveries."

const read = (file: string) => readFileSync(join(root, file), "utf8")

/** A page of the site becomes its Markdown; anything else stays where it leads. */
const markdownTarget = (from: string, href: string): string | null | undefined => {
  const to = targetOf(from, href)
  if (to === undefined || to === null || to.startsWith("/programs/")) return to
  const [, link, rest] = /^([^?#]*)(.*)$/.exec(to)!
  return `${markdownLink(link!)}${rest}`
}

const writeMarkdown = (outDir: string): void => {
  for (const [address, file] of sources) {
    // The start page is a picture of the others.
    if (file === "site/index.md") continue
    const path = join(outDir, address)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(
      path,
      withSiteLinks(read(file), (href) => markdownTarget(file, href)),
    )
  }
  writeFileSync(join(outDir, "llms.txt"), llmsText({ title: TITLE, description: DESCRIPTION, sections: SIDEBAR, read }))
}

export default defineConfig({
  title: TITLE,
  description: DESCRIPTION,
  srcDir: "..",
  srcExclude: [
    "packages/**",
    "test/**",
    "deploy/**",
    "examples/**",
    "integrations/**",
    ".github/**",
    ".changeset/**",
    "site/node_modules/**",
    "site/reference/README.md",
  ],
  outDir: "dist",
  cacheDir: "node_modules/.vitepress",
  cleanUrls: true,
  rewrites: (file) => `${addressOf(file)}.md`,
  markdown: { config: relink },
  vite: { resolve: { alias: { vue } } },
  head: [["link", { rel: "icon", href: "data:," }]],
  themeConfig: {
    nav: [
      { text: "Tour", link: "/start" },
      { text: "Guides", link: "/guides/collect-a-form" },
      { text: "Reference", link: "/api" },
      { text: "Comparison", link: "/comparison" },
    ],
    sidebar: SIDEBAR.map(({ text, items }) => ({
      text,
      items: items.map(({ text: title, link }) => ({ text: title, link })),
    })),
    outline: [2, 3],
    search: { provider: "local" },
  },
  transformHead: ({ pageData: { relativePath } }) =>
    relativePath === "index.md"
      ? []
      : [["link", { rel: "alternate", type: "text/markdown", href: `/${relativePath}` }]],
  buildEnd: ({ outDir }) => {
    writeMarkdown(outDir)
    for (const file of linked) cpSync(join(root, file), join(outDir, "programs", `${file}.txt`))
  },
})
