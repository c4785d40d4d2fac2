/**
 * Collects the SQL texts of the packages from their sources: the migrations, and every literal and template that looks like
 * SQL. Expressions in a template become `◦`; most are quoted names, or texts that are collected themselves.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript5"

export interface SqlText {
  /** `packages/store-pg/src/…:12`. */
  readonly where: string
  readonly file: string
  readonly text: string
}

export const HOLE = "◦"

const root = fileURLToPath(new URL("../../", import.meta.url))

const KEYWORD =
  /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|FROM|WHERE|JOIN|CREATE|ALTER|DROP|GRANT|REVOKE|SET|RESET|CASE WHEN|EXISTS|LOCK TABLE|REFRESH|COMMENT ON|ANALYZE|LISTEN|EXECUTE|PERFORM|RETURN|ORDER BY|OPERATOR)\b/

/** A call, a cast or a qualified name, which makes a text SQL even without a keyword. */
const SQL_HOMES = /^packages\/(store-pg\/src|core\/src\/selection)\//

const isSql = (file: string, text: string): boolean =>
  KEYWORD.test(text) ||
  (SQL_HOMES.test(file) && /\b[a-z_0-9]+\(|[a-z_]+\.[a-z_]+|::[a-z]/.test(text) && !/[.!?]$/.test(text.trim()))

const textOf = (node: ts.TemplateExpression): string =>
  node.head.text + node.templateSpans.map((span) => HOLE + span.literal.text).join("")

/** The texts of one source file. */
export const sqlTextsOf = (file: string, program: string): ReadonlyArray<SqlText> => {
  const source = ts.createSourceFile(file, program, ts.ScriptTarget.Latest, true)
  const found: Array<SqlText> = []
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return
    const text = ts.isTemplateExpression(node)
      ? textOf(node)
      : ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)
        ? node.text
        : null
    if (text !== null && isSql(file, text)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart())
      found.push({ where: `${file}:${line + 1}`, file, text })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))

interface Program {
  /** The path from the root of the repository. */
  readonly file: string
  readonly text: string
}

const sources = (ending: string): ReadonlyArray<Program> =>
  readdirSync(join(root, "packages"))
    .flatMap((name) => filesBelow(join(root, "packages", name, "src")))
    .filter((file) => file.endsWith(ending))
    .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }))

/** Every source file of the packages. */
export const allPrograms = (): ReadonlyArray<Program> => sources(".ts")

/** All SQL of the packages. */
export const allSqlTexts = (): ReadonlyArray<SqlText> => [
  ...allPrograms().flatMap(({ file, text }) => sqlTextsOf(file, text)),
  ...sources(".sql").map(({ file, text }) => ({ where: file, file, text })),
]

/** The calls of functions with such a name in a source file, each as written. */
export const callsOf = (file: string, program: string, name: RegExp): ReadonlyArray<string> => {
  const found: Array<string> = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && name.test(node.expression.getText())) found.push(node.getText())
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, program, ts.ScriptTarget.Latest, true))
  return found
}
