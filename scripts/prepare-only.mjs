/** Makes the clone ready and stops there, for scripts that go on by themselves. */
import { prepare } from "./prepare.mjs"

await prepare({ build: false })
