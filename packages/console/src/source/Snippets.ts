/** Examples of sending to an intake address, ready to be pasted. */
import type { Source } from "@data-cabinet/core/source/Source"
import { proofMarkup } from "./ProofForm.ts"

export interface Snippet {
  readonly name: string
  readonly text: string
}

/** Out of sight, and out of reach of screen readers. */
const honeypotField = (name: string): string =>
  `\n  <input name="${escapedHtml(name)}" tabindex="-1" autocomplete="off" aria-hidden="true" style="position:absolute;left:-9999px">`

const escapedHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;")

/** If the source demands a proof of a person, only a form can send to it. */
export const snippets = (url: string, source: Pick<Source, "honeypot" | "proof">): ReadonlyArray<Snippet> => {
  const form = formSnippet(url, source)
  return source.proof === null ? [curl(url), form, ...programs(url)] : [form]
}

const formSnippet = (url: string, { honeypot, proof }: Pick<Source, "honeypot" | "proof">): Snippet => ({
  name: "HTML",
  text: `<form method="post" action="${url}">
  <input name="name">
  <input name="email" type="email">${honeypot === null ? "" : honeypotField(honeypot)}${proofMarkup(url, proof)
    .map((line) => `\n  ${line}`)
    .join("")}
  <button>Send</button>
</form>`,
})

const curl = (url: string): Snippet => ({ name: "curl", text: `curl ${url} -d name=Ada -d total=12.50` })

const programs = (url: string): ReadonlyArray<Snippet> => [
  {
    name: "JavaScript",
    text: `await fetch("${url}", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ name: "Ada", total: 12.5 }),
})`,
  },
  {
    name: "Python",
    text: `import json, urllib.request

request = urllib.request.Request(
    "${url}",
    json.dumps({"name": "Ada", "total": 12.5}).encode(),
    {"Content-Type": "application/json"},
)
print(urllib.request.urlopen(request).read())`,
  },
  {
    name: "PHP",
    text: `<?php
echo file_get_contents("${url}", false, stream_context_create(["http" => [
    "method" => "POST",
    "header" => "Content-Type: application/json",
    "content" => json_encode(["name" => "Ada", "total" => 12.5]),
]]));`,
  },
]
