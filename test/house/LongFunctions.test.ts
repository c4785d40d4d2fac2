/**
 * No function of the packages is longer than a screen. A function with more steps becomes a class with named steps and
 * documented state (`store-pg/event/EventWriter`), or several functions.
 */
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import ts from "typescript5"
import { assert, it } from "vitest"

const MAX_LINES = 80

const root = fileURLToPath(new URL("../../", import.meta.url))

interface Long {
  readonly line: number
  readonly lines: number
}

const longFunctions = (program: string): ReadonlyArray<Long> => {
  const source = ts.createSourceFile("program.ts", program, ts.ScriptTarget.Latest)
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1
  const linesOf = (node: ts.Node) => lineOf(node.end) - lineOf(node.getStart(source)) + 1
  // A list of endpoints is a description: each entry counts by itself.
  const isEndpoint = (node: ts.Node) => ts.isCallExpression(node) && /endpoint$/i.test(node.expression.getText(source))
  const endpointLines = (node: ts.Node): number => {
    let lines = 0
    ts.forEachChild(node, (child) => void (lines += isEndpoint(child) ? linesOf(child) : endpointLines(child)))
    return lines
  }
  const found: Array<Long> = []
  const visit = (node: ts.Node): void => {
    // A function type is as long as its signature, and a class is as long as its methods.
    if ((ts.isFunctionLike(node) && "body" in node && node.body !== undefined) || isEndpoint(node)) {
      const lines = linesOf(node)
      if (lines > MAX_LINES && lines - endpointLines(node) > MAX_LINES) {
        found.push({ line: lineOf(node.getStart(source)), lines })
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

it(`no function of the packages has more than ${MAX_LINES} lines`, () => {
  const files = globSync("packages/*/src/**/*.ts", { cwd: root })
  assert.isAbove(files.length, 300)
  const wrong: Array<string> = []
  for (const file of files) {
    for (const { line, lines } of longFunctions(readFileSync(root + file, "utf8"))) {
      wrong.push(`${file}:${line} has ${lines} lines`)
    }
  }
  assert.deepStrictEqual(wrong, [])
})

it("a long layer, arrow function or method is found, and a long class of short ones is not", () => {
  const long = "  step()\n".repeat(MAX_LINES)
  const short = "  step() {\n    return 1\n  }\n".repeat(MAX_LINES)
  assert.lengthOf(longFunctions(`export const layer = Layer.effect(Port, Effect.gen(function* () {\n${long}}))`), 1)
  assert.lengthOf(longFunctions(`const f = () => {\n${long}}`), 1)
  assert.lengthOf(longFunctions(`class A {\n  run() {\n${long}  }\n}`), 1)
  assert.lengthOf(longFunctions(`class A {\n${short}}`), 0)
  const endpoints = "  manageEndpoint({\n    id: 1,\n  }),\n".repeat(MAX_LINES)
  assert.lengthOf(longFunctions(`const manage = Effect.gen(function* () {\n  return [\n${endpoints}  ]\n})`), 0)
  assert.lengthOf(longFunctions(`manageEndpoint({\n  respond: () => {\n${long}  },\n})`), 2)
})
