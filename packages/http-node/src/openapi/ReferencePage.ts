/** The reference for people, as one HTML page: the whole content of the OpenAPI document, in its order. */
import { Html, markup } from "../html/Html.ts"
import type { OpenApiDocument } from "./OpenApiDocument.ts"
import type { MediaTypes, OperationObject, ParameterObject, ResponseObject } from "./OperationObject.ts"
import { schemaTable, typeWords } from "./ReferenceSchema.ts"

export const REFERENCE_STYLE = `
:root{color-scheme:light dark;--ground:#fbfbfc;--card:#fff;--ink:#1c2430;--soft:#5a6675;--line:#dfe3e8;--mark:#1f7a4d;--code:#f1f3f6;--link:#1d5fbf}
@media (prefers-color-scheme:dark){:root{--ground:#14181d;--card:#1d232a;--ink:#e8ecf1;--soft:#a3afbd;--line:#323a44;--mark:#5cc792;--code:#262d36;--link:#86b6ff}}
*{box-sizing:border-box}
@media (prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
a{color:var(--link);text-decoration:none}
a:hover{text-decoration:underline}
.frame{display:grid;grid-template-columns:minmax(0,1fr);max-width:76rem;margin:0 auto;padding:0 16px}
header{padding:24px 0 8px}
nav{padding:0 0 16px;border-bottom:1px solid var(--line);columns:2 8rem;font-size:.93rem}
nav ul{break-before:avoid}
nav h2{margin:0;padding:14px 0 4px;font-size:.8rem;text-transform:uppercase;letter-spacing:.06em;color:var(--soft)}
nav ul{margin:0;padding:0;list-style:none}
nav li{overflow-wrap:anywhere}
main{min-width:0;padding:0 0 64px}
@media (min-width:60rem){.frame{grid-template:auto 1fr / 17rem minmax(0,1fr);column-gap:40px}header{grid-area:1/2;padding-top:32px}main{grid-area:2/2}nav{grid-area:1/1/span 2;columns:auto;position:sticky;top:0;align-self:start;max-height:100vh;overflow:auto;border:0;padding:22px 0 32px}}
h1{margin:0 0 8px;font-size:1.9rem;line-height:1.2}
main h2{margin:40px 0 8px;font-size:1.4rem}
h4{margin:20px 0 6px;font-size:.95rem}
p{margin:0 0 12px}
.soft{color:var(--soft)}
section.op{margin:20px 0;scroll-margin-top:16px;padding:20px;background:var(--card);border:1px solid var(--line);border-radius:12px}
section.op h3{margin:0 0 6px;font-size:1.1rem}
.line{display:block;margin:0 0 10px;overflow-wrap:anywhere;font:600 .92rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.line b{color:var(--mark);margin-right:8px}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.86em;background:var(--code);border-radius:5px}
code{padding:.1em .35em;overflow-wrap:anywhere}
pre{margin:0 0 12px;padding:12px 14px;overflow:auto}
.wide{overflow-x:auto}
table{width:100%;border-collapse:collapse;margin:0 0 12px;font-size:.93rem}
td,th{padding:7px 12px 7px 0;border-bottom:1px solid var(--line);vertical-align:top;text-align:left}
td:first-child{white-space:nowrap}
th{font-weight:600;color:var(--soft)}
details{margin:8px 0}
summary{cursor:pointer;color:var(--link)}
`

/** Plain text in which `…` marks code, as in descriptions. Empty lines separate paragraphs. */
export const words = (text: string): Html =>
  join(
    text.split("`").map((part, index) => (index % 2 === 1 ? markup`<code>${part}</code>` : markup`${part}`)),
    "",
  )

export const join = (parts: ReadonlyArray<Html>, between = "\n"): Html =>
  new Html(parts.map(({ text }) => text).join(between))

export const referencePage = (document: OpenApiDocument): string => {
  const operations = [...operationsOf(document.paths), ...operationsOf(document.webhooks)]
  const groups = document.tags.map((tag) => ({
    ...tag,
    its: operations.filter(({ node }) => node.tags[0] === tag.name),
  }))
  const menu = groups.map(
    ({ name, its }) =>
      markup`<h2>${name}</h2>
        <ul>
          ${join(its.map(({ node }) => markup`<li><a href="#${node.operationId}">${node.summary}</a></li>`))}
        </ul>`,
  )
  const sections = groups.map(
    ({ name, description, its }) =>
      markup`<h2>${name}</h2>
        <p class="soft">${description}</p>
        ${join(its.map((one) => operationSection(one)))}`,
  )
  const shapes = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      markup`<section class="op" id="schema-${name}">
        <h3>${name}</h3>
        <p>${words(String(schema["description"] ?? ""))}</p>
        ${schemaTable(schema)}
      </section>`,
  )
  return markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${document.info.title} API</title>
        <style>${new Html(REFERENCE_STYLE)}</style>
      </head>
      <body>
        <div class="frame">
          <header>
            <h1>${document.info.title} API</h1>
            <p class="soft">Version ${document.info.version} · <code>${serverOf(document)}</code></p>
            <p>${words(document.info.description)}</p>
          </header>
          <nav>
            ${join(menu)}
            <h2>Shapes</h2>
            <ul>
              ${join(Object.keys(document.components.schemas).map((name) => markup`<li><a href="#schema-${name}">${name}</a></li>`))}
            </ul>
          </nav>
          <main>
            ${join(sections)}
            <h2>Shapes</h2>
            ${join(shapes)}
          </main>
        </div>
      </body>
    </html>`.text
}

const serverOf = (document: OpenApiDocument): string =>
  (document["servers"] as ReadonlyArray<{ readonly url: string }>)[0]?.url ?? ""

interface Operation {
  readonly method: string
  readonly path: string
  readonly node: OperationObject
}

const operationsOf = (paths: OpenApiDocument["paths"]): ReadonlyArray<Operation> =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, node]) => ({ method: method.toUpperCase(), path, node })),
  )

const operationSection = ({ method, path, node }: Operation): Html =>
  markup`<section class="op" id="${node.operationId}">
    <h3>${node.summary}</h3>
    <span class="line"><b>${method}</b>${path}</span>
    <p>${words(node.description)}</p>
    ${parameters(node.parameters ?? [])}${body(node.requestBody)}
    <h4>Responses</h4>
    ${join(Object.entries(node.responses).map(([status, response]) => responseHtml(status, response)))}
  </section>`

const parameters = (list: ReadonlyArray<ParameterObject>): Html | null =>
  list.length === 0
    ? null
    : markup`<h4>Parameters</h4>
        <div class="wide">
          <table>
            ${join(
              list.map(
                ({ name, in: where, schema, description }) =>
                  markup`<tr>
                    <td><code>${name}</code></td>
                    <td>${typeWords(schema)}<br /><span class="soft">${where}</span></td>
                    <td>${words(description)}</td>
                  </tr>`,
              ),
            )}
          </table>
        </div>`

const body = (request: OperationObject["requestBody"]): Html | null =>
  request === undefined
    ? null
    : markup`<h4>Body</h4>
        ${content(request.content)}`

const responseHtml = (status: string, response: ResponseObject): Html => {
  const lines = response.description.split("\n\n").map((line) => markup`<p>${words(line)}</p>`)
  return markup`<details${status === "200" ? new Html(" open") : null}><summary>${status} <span class="soft">${codes(response)}</span></summary>${join(lines)}${
    Number(status) < 300 && response.content !== undefined ? content(response.content) : null
  }</details>`
}

/** The error codes that a response may carry. */
const codes = (response: ResponseObject): string =>
  Object.keys(response.content?.["application/json"]?.examples ?? {}).join(" · ")

const content = (types: MediaTypes): Html =>
  join(
    Object.entries(types).map(
      ([type, { schema, example }]) =>
        markup`<p><code>${type}</code> ${typeWords(schema)}</p>
          ${example === undefined || type === "text/html" ? null : markup`<pre>${JSON.stringify(example, null, 2)}</pre>`}`,
    ),
  )
