import { spawn } from "node:child_process"
import { once } from "node:events"
import { expect, it } from "vitest"

const script = `
  import { whenAbandoned } from ${JSON.stringify(new URL("../../packages/cli/bin/whenAbandoned.mjs", import.meta.url).href)}
  const stay = setInterval(() => {}, 1000)
  whenAbandoned(() => { console.log("stopped"); clearInterval(stay) })
  console.log("running")
`

it.each(["SIGTERM", "SIGKILL"] as const)(
  "whenAbandoned stops a program whose starting shell ended by %s",
  async (signal) => {
    // The trailing command keeps the shell from becoming the program itself.
    const shell = spawn("sh", ["-c", `"${process.execPath}" --input-type=module -e "$SCRIPT"; true`], {
      env: { ...process.env, npm_lifecycle_event: "start", SCRIPT: script },
      stdio: ["ignore", "pipe", "inherit"],
    })
    let said = ""
    shell.stdout.on("data", (bytes: Buffer) => {
      said += bytes.toString()
      if (said === "running\n") shell.kill(signal)
    })
    // The pipe closes when its last holder ends, which is the program rather than the shell.
    await once(shell.stdout, "close")
    expect(said).toBe("running\nstopped\n")
  },
)
