import { execFileSync } from "node:child_process"
import type { SignedRequest } from "@data-cabinet/core/delivery/SignedRequest"
import type { Frame } from "@data-cabinet/console/html/Shell"
import { requestCurl, requestPart } from "@data-cabinet/console/integration/RequestText"
import { WORDS } from "@data-cabinet/console/words/Words"
import { markup } from "@data-cabinet/http-node/html/Html"
import { assert, it } from "vitest"

const request: SignedRequest = {
  method: "POST",
  url: "https://receiver.example/in?token=hush&b='",
  headers: [
    { name: "X-Api-Token", value: null },
    { name: "X-Service-Signature", value: "t=1,v1=00ff" },
    { name: "webhook-signature", value: "v1,AAA=" },
  ],
  body: `{"name":"Ada's $HOME <b>"}`,
}

const textFor = (role: "editor" | "viewer"): string => {
  const frame = { base: "", language: "en", words: WORDS.en, actor: { role } } as unknown as Frame
  return markup`${requestPart(frame, request, "https://receiver.example/in")}`.text
}

it("signatures are shown to those who may send a delivery again, and values of the address's headers to nobody", () => {
  const editor = textFor("editor")
  const viewer = textFor("viewer")
  assert.include(editor, "t=1,v1=00ff")
  assert.include(editor, "v1,AAA=")
  for (const hidden of ["00ff", "v1,AAA=", "hush", "curl"]) assert.notInclude(viewer, hidden)
  assert.include(viewer, "&lt;b&gt;")
})

it("the curl command sends the same request, with variables for headers whose values are not known", () => {
  const shell = `curl() { printf '%s\\n' "$@"; }; X_API_TOKEN=given; ${requestCurl(request)}`
  const words = execFileSync("sh", ["-c", shell], { encoding: "utf8" }).trimEnd().split("\n")
  const headers = ["X-Api-Token: given", "X-Service-Signature: t=1,v1=00ff", "webhook-signature: v1,AAA="]
  const given = headers.flatMap((header) => ["-H", header])
  assert.deepStrictEqual(words, ["-X", "POST", ...given, "--data-raw", request.body, request.url])
  assert.isNull(requestCurl({ ...request, body: "a\0b" }))
})
