/** Prepares the clone and stops there, for scripts that continue by themselves. */
import { prepare } from "./prepare.mjs"

await prepare({ build: false })
