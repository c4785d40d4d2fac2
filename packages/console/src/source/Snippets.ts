/** Examples of sending to an intake address, ready to be pasted. */

export interface Snippet {
  readonly name: string
  readonly text: string
}

/** Out of sight, and out of reach of screen readers. */
const honeypotField = (name: string): string =>
  `\n  <input name="${escapedHtml(name)}" tabindex="-1" autocomplete="off" aria-hidden="true" style="position:absolute;left:-9999px">`

const escapedHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;")

/** `honeypot`: a field of the form that people leave empty; null: it has none. */
export const snippets = (url: string, honeypot: string | null): ReadonlyArray<Snippet> => [
  { name: "curl", text: `curl ${url} -d name=Ada -d total=12.50` },
  {
    name: "HTML",
    text: `<form method="post" action="${url}">
  <input name="name">
  <input name="email" type="email">${honeypot === null ? "" : honeypotField(honeypot)}
  <button>Send</button>
</form>`,
  },
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
