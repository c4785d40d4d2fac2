/** Renders a JSON Schema as words and tables, for the reference page. */
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { Html, markup } from "../html/Html.ts"

/** The type of a value, in a few words; other schemas are linked. */
export const typeWords = (schema: JsonSchema): Html => {
  const target = schema["$ref"]
  if (typeof target === "string") {
    const name = target.split("/").at(-1)!
    return markup`<a href="#schema-${name}">${name}</a>`
  }
  const choices = (schema["oneOf"] ?? schema["allOf"]) as ReadonlyArray<JsonSchema> | undefined
  if (choices !== undefined) return new Html(choices.map((choice) => typeWords(choice).text).join(" or "))
  const words = schema["enum"] as ReadonlyArray<string> | undefined
  if (words !== undefined) return markup`${words.join(" · ")}`
  if ("const" in schema) return markup`${JSON.stringify(schema["const"])}`
  const type = [schema["type"]].flat().join(" or ")
  if (type === "array") return markup`list of ${typeWords(schema["items"] as JsonSchema)}`
  return markup`${type}${schema["format"] === undefined ? null : `, ${String(schema["format"])}`}${bounds(schema)}`
}

const bounds = ({ minimum, maximum, default: usual }: JsonSchema): string => {
  const from = minimum === undefined ? "" : `, from ${String(minimum)}`
  const to = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? "" : ` to ${String(maximum)}`
  return `${from}${to}${usual === undefined ? "" : `, default ${String(usual)}`}`
}

/** An object's fields. */
export const schemaTable = (schema: JsonSchema): Html | null => {
  const properties = schema["properties"] as { readonly [name: string]: JsonSchema } | undefined
  if (properties === undefined) return null
  const rows = Object.entries(properties).map(
    ([name, field]) =>
      markup`<tr>
        <td><code>${name}</code></td>
        <td>${typeWords(field)}</td>
        <td>${String(field["description"] ?? "")}${nested(field)}</td>
      </tr>`.text,
  )
  return markup`<div class="wide">
    <table>
      ${new Html(rows.join(""))}
    </table>
  </div>`
}

const nested = (field: JsonSchema): Html | null => {
  const inner = field["oneOf"] === undefined ? field : (field["oneOf"] as ReadonlyArray<JsonSchema>)[0]!
  return schemaTable(inner)
}
