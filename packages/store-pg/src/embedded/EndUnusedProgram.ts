/**
 * How Node runs `EndUnused`: the file next to this one. A bundle has no such file, and replaces this module with one
 * that contains the program's text (`scripts/bundle/embedFiles.mjs`).
 */
import { fileURLToPath } from "node:url"

const FILE = new URL(`./EndUnused${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url)

/** Node's first arguments; those of the program follow. */
export const endUnusedProgram: ReadonlyArray<string> = [fileURLToPath(FILE)]
