/**
 * The output of a server that has started. The first time, on a terminal: the addresses, the created objects, and
 * commands to try them, ready to paste. Later, and if the output may be stored: only the address, without secrets.
 */
import { resolve } from "node:path"
import { linkUrl } from "@data-cabinet/core/person/Person"
import { intakePath } from "@data-cabinet/core/source/SourceShape"
import type { SeededCabinet } from "../compose/SeedCabinet.ts"
import type { Served } from "../process/Serve.ts"
import type { Style } from "../output/Style.ts"

const place = ({ database }: Served): string =>
  database.dataDir === null ? "your PostgreSQL" : `embedded PostgreSQL, data in ${database.dataDir}`

/** What commands need to find the embedded database; nothing for the default directory, where they look by themselves. */
export const dataDirFlag = (dataDir: string | null): string => {
  if (dataDir === null || resolve(dataDir) === resolve(".cabinet")) return ""
  return ` --data-dir ${/^[\w./-]+$/.test(dataDir) ? dataDir : `'${dataDir.replaceAll("'", "'\\''")}'`}`
}

const where = ({ database }: Served): string => dataDirFlag(database.dataDir)

const warnings = ({ database: { roles } }: Served, style: Style): ReadonlyArray<string> =>
  [roles.reader, roles.author].flatMap((role) => (role.there ? [] : [`  ${style.yellow(role.reason)}`]))

const laterStart = (served: Served, style: Style): ReadonlyArray<string> => [
  `  ${style.bold("Data Cabinet")} is running at ${style.cyan(served.baseUrl)} ${style.dim(`(${place(served)})`)}`,
  `  ${style.dim(`Sources and their addresses: npx cabinet source list${where(served)}, npx cabinet source show ID${where(served)}.`)}`,
  `  ${style.dim(`A link that signs in to the console: npx cabinet console${where(served)}. Stop with Ctrl-C.`)}`,
]

/** Without secrets, for output that is stored. */
const firstStartUnseen = (served: Served, { source }: SeededCabinet, style: Style): ReadonlyArray<string> => [
  `  ${style.bold("Welcome to Data Cabinet.")} It is running at ${style.cyan(served.baseUrl)} ${style.dim(`(${place(served)})`)}`,
  `  It created source ${source.id} to start with. Its intake address: npx cabinet source show ${source.id}${where(served)}`,
  `  A key for the API: npx cabinet key add NAME${where(served)}. A link that signs in to the console: npx cabinet console${where(served)}.`,
  `  All three are secret and only shown on request.`,
]

const firstStart = (served: Served, first: SeededCabinet, style: Style): ReadonlyArray<string> => {
  const { source, key, link } = first
  if (key === null) return firstStartUnseen(served, first, style)
  const { baseUrl } = served
  const intake = `${baseUrl}${intakePath(source)}`
  const table = `${source.table!.schema}/${source.table!.name}`
  const step = (words: string, command: string) => [`  ${style.dim(`# ${words}`)}`, `  ${command}`, ""]
  const bearer = `-H "Authorization: Bearer ${key.key}"`
  return [
    `  ${style.bold("Welcome to Data Cabinet.")} It is running at ${style.cyan(baseUrl)}`,
    `  ${style.dim(place(served))}`,
    "",
    `  To start with, it created a source and an API key:`,
    "",
    `    ${style.dim("intake address")}  ${intake}`,
    `    ${style.dim("its table")}       ${table.replace("/", ".")}`,
    `    ${style.dim("API key")}         ${style.bold(key.key)}  ${style.yellow("(save it: it is shown only once)")}`,
    ...(link === null
      ? []
      : [
          `    ${style.dim("console")}         ${linkUrl(baseUrl, link.secret)}  ${style.yellow("(signs you in once)")}`,
          `                    ${style.dim(`a new link at any time: npx cabinet console${where(served)}`)}`,
        ]),
    "",
    `  Try it in another terminal:`,
    "",
    ...step("send data, as a form or as JSON", `curl ${intake} -d name=Ada -d total=12.50`),
    ...step("read it as a row of the source's table", `curl ${bearer} ${baseUrl}/api/v1/tables/${table}/rows`),
    ...step("read it as an event of the feed", `curl ${bearer} ${baseUrl}/api/v1/events`),
    `  ${style.dim(`API reference: ${baseUrl}/api/v1/docs. All commands: npx cabinet --help. Stop with Ctrl-C;`)}`,
    `  ${style.dim("the data is kept, and the next start takes seconds.")}`,
  ]
}

export const startupBanner = (served: Served, style: Style): string =>
  [
    "",
    ...(served.first === null ? laterStart(served, style) : firstStart(served, served.first, style)),
    ...warnings(served, style),
    "",
  ].join("\n")

export const startupJson = (served: Served) => ({
  base_url: served.baseUrl,
  data_dir: served.database.dataDir,
  source:
    served.first === null
      ? null
      : {
          id: served.first.source.id,
          name: served.first.source.name,
          intake_url: `${served.baseUrl}${intakePath(served.first.source)}`,
          intake_path: intakePath(served.first.source),
          table: served.first.source.table,
        },
  key:
    served.first?.key == null
      ? null
      : {
          id: served.first.key.id,
          name: served.first.key.name,
          key: served.first.key.key,
          prefix: served.first.key.prefix,
        },
  console_link: served.first?.link == null ? null : linkUrl(served.baseUrl, served.first.link.secret),
})
