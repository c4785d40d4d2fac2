/**
 * The frame of every page that the service itself generates: a few words in the middle of a phone's or a desktop's screen.
 * Self-contained, without a script, and under a policy that lets the browser fetch nothing at all.
 */
import { hash } from "node:crypto"
import { Html, markup } from "./Html.ts"
import type { Language } from "./Language.ts"

const STYLE = `
:root{color-scheme:light dark;--ground:#f4f5f7;--card:#fff;--ink:#1c2430;--soft:#5a6675;--line:#dfe3e8;--mark:#1f7a4d;--link:#1d5fbf}
@media (prefers-color-scheme:dark){:root{--ground:#14181d;--card:#1d232a;--ink:#e8ecf1;--soft:#a3afbd;--line:#323a44;--mark:#5cc792;--link:#86b6ff}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;min-height:100svh;display:flex;align-items:center;justify-content:center;padding:24px 16px;background:var(--ground);color:var(--ink);font:17px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{width:100%;max-width:30rem;padding:32px 28px;background:var(--card);border:1px solid var(--line);border-radius:14px}
.mark{width:44px;height:44px;margin:0 0 16px;color:var(--mark);display:block}
.mark.sorry{color:var(--soft)}
h1{margin:0 0 12px;font-size:1.5rem;line-height:1.25;overflow-wrap:anywhere}
p{margin:0 0 12px;color:var(--soft);overflow-wrap:anywhere}
p:last-child{margin-bottom:0}
a{color:var(--link)}
`

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hash("sha256", STYLE, "base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ")

/**
 * Headers of every page. A page may be framed (a form may be sent from a frame), since it has nothing to click; its
 * address, which contains a secret, is never sent as a referrer.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": POLICY,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex",
  "cache-control": "no-store",
}

export interface PageWords {
  readonly title: string
  readonly paragraphs: ReadonlyArray<string>
}

export interface PageOptions {
  readonly language: Language
  /** Whether the page reports success: a green tick, otherwise a neutral sign. */
  readonly done: boolean
  readonly link?: { readonly href: string; readonly text: string } | undefined
}

const TICK = new Html('<path d="m7.5 12.5 3 3 6-7"/>')
const DRAWN = new Html(
  'fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"',
)
const SIGN = new Html('<path d="M12 7.5v6"/><path d="M12 16.5v.01"/>')

/** The text of a page. */
export const page = (words: PageWords, options: PageOptions): string => {
  const paragraphs = new Html(words.paragraphs.map((text) => markup`<p>${text}</p>`.text).join("\n"))
  const link =
    options.link === undefined
      ? null
      : markup`\n<p><a href="${options.link.href}" rel="noreferrer">${options.link.text}</a></p>`
  return markup`<!doctype html>
<html lang="${options.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${words.title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<svg class="${options.done ? "mark" : "mark sorry"}" viewBox="0 0 24 24" ${DRAWN} aria-hidden="true">
<circle cx="12" cy="12" r="10"/>${options.done ? TICK : SIGN}
</svg>
<h1>${words.title}</h1>
${paragraphs}${link}
</main>
</body>
</html>
`.text
}
