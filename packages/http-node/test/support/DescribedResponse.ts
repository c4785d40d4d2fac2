/**
 * Compares a response of the API with the API's own description: status, content type, headers, body. Objects are closed for
 * it, so that a field missing in the description is found as well.
 */
import assert from "node:assert/strict"
import { openApiDocument } from "@data-cabinet/http-node/openapi/OpenApiDocument"
import { ENDPOINTS } from "@data-cabinet/http-node/routes/ApiRoutes"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import formats from "ajv-formats"

type Node = { readonly [key: string]: any }

/** Bodies that are a sender's own bytes. */
const IS_EXACT: ReadonlySet<string> = new Set(["application/octet-stream", "text/plain"])

const close = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(close)
  if (typeof schema !== "object" || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, close(value)]))
  return "required" in inner && "properties" in inner && !("additionalProperties" in inner)
    ? { ...inner, additionalProperties: false }
    : inner
}

export interface ReceivedResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** The assertions of one description. */
export const describedBy = (document: Node) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ;(formats as unknown as (ajv: Ajv2020) => void)(ajv)
  ajv.addSchema({ $id: "api", components: close(document["components"]) as Node })

  const compiled = new Map<string, ValidateFunction>()
  const validators = new WeakMap<Node, ValidateFunction>()

  const validator = (schema: Node): ValidateFunction => {
    const made = validators.get(schema) ?? compile(schema)
    validators.set(schema, made)
    return made
  }

  const compile = (schema: Node): ValidateFunction => {
    const text = JSON.stringify(close(schema)).replaceAll('"#/components/', '"api#/components/')
    const known = compiled.get(text)
    if (known !== undefined) return known
    const made = ajv.compile(JSON.parse(text) as Node)
    compiled.set(text, made)
    return made
  }

  /** Fails and names the mismatch if `value` does not fit a schema of the document. */
  const assertFits = (schema: Node, value: unknown, where: string): void => {
    const validate = validator(schema)
    assert.ok(validate(value), `${where}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)?.slice(0, 2000)}`)
  }

  const resolve = (node: Node): Node =>
    typeof node["$ref"] === "string"
      ? (node["$ref"] as string)
          .slice(2)
          .split("/")
          .reduce<Node>((at, key) => at[key], document)
      : node

  // An address without parameters comes before one with them.
  const patterns = Object.keys(document["paths"])
    .sort((a, b) => a.split("{").length - b.split("{").length)
    .map((pattern) => ({ pattern, parts: pattern.split("/") }))

  const pathOf = (url: string): string | undefined => {
    const { pathname } = new URL(url, "http://x")
    // An intake address without its secret is still one.
    if (/^\/webhook\/?$/.test(pathname)) return "/webhook/{intake_secret}"
    const segments = pathname.split("/")
    return patterns.find(
      ({ parts }) =>
        parts.length === segments.length &&
        parts.every((part, i) => (part[0] === "{" ? segments[i] !== "" : part === segments[i])),
    )?.pattern
  }

  /**
   * For any response below /api/v1 or of an intake address; responses to unknown paths and methods are compared with
   * the error schema.
   */
  const assertDescribed = (method: string, url: string, answer: ReceivedResponse): void => {
    const where = `${method} ${url} -> ${answer.status}`
    assert.ok(
      IS_EXACT.has(answer.headers.get("content-type")?.split(";")[0] ?? "") || /^$|[^\n]\n$/.test(answer.text),
      `${where}: a body whose last line has no end, or an empty line behind it`,
    )
    const path = pathOf(url)
    const item: Node = path === undefined ? {} : document["paths"][path]
    const operation: Node | undefined = item[method === "HEAD" ? "get" : method.toLowerCase()] ?? item["post"]
    // A preflight is the browser's own request, and its response is not part of the API.
    const isOfTheApi = path?.startsWith("/api/v1/") === true
    if (method === "OPTIONS" && answer.status === 204 && (operation === undefined || isOfTheApi)) return
    const error = { $ref: "#/components/schemas/Error" }
    if (operation === undefined || (answer.status === 405 && item["post"] === undefined)) {
      assert.ok(answer.status === 404 || answer.status === 405, where)
      if (method !== "HEAD") assertFits(error, JSON.parse(answer.text), where)
      return
    }
    const response: Node | undefined = operation["responses"][String(answer.status)]
    if (response === undefined && answer.status === 404 && method !== "HEAD") {
      // The document describes one cabinet: that a host has none is not a response of its operations.
      assertFits(error, JSON.parse(answer.text), where)
      assert.equal(JSON.parse(answer.text).error.code, "no_such_endpoint", where)
      return
    }
    assert.ok(response !== undefined, `${where}: this status is not described`)
    for (const [name, described] of Object.entries(resolve(response)["headers"] ?? {})) {
      const header = resolve(described as Node)
      const value = answer.headers.get(name)
      if (value === null) assert.ok(header["required"] !== true, `${where}: no header ${name}`)
      else assertFits(header["schema"], header["schema"].type === "integer" ? Number(value) : value, `${where} ${name}`)
    }
    const type = answer.headers.get("content-type")?.split(";")[0] ?? "none"
    const media: Node | undefined = response["content"]?.[type]
    if (response["x-forms"]?.includes(type) === true) return
    if (media === undefined || method === "HEAD")
      assert.equal(answer.text, "", `${where}: a body that is not described`)
    else if (type === "application/json") {
      const body = JSON.parse(answer.text)
      assertFits(media["schema"], body, where)
      const { examples } = media
      if (examples !== undefined)
        assert.ok(body.error.code in examples, `${where}: ${body.error.code} is not described`)
    }
    if (path?.startsWith("/api/") && answer.text !== "") assert.equal(type, "application/json", where)
  }
  return { assertFits, assertDescribed }
}

export const { assertFits, assertDescribed } = describedBy(openApiDocument("https://orders.cabinet.test", ENDPOINTS))
