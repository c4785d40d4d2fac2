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

// The program's parent stands for npm, as no shell is between them; what started npm may end.
it("whenAbandoned lets a program stay whose npm outlives the shell that started it", async () => {
  const npm = `
    import { spawn } from "node:child_process"
    spawn(process.execPath, ["--input-type=module", "-e", process.env.SCRIPT], { stdio: "inherit" })
    process.stdin.resume().once("end", () => process.exit())
  `
  const shell = spawn("sh", ["-c", `"${process.execPath}" --input-type=module -e "$NPM" 0<&3 & read -r _`], {
    env: {
      ...process.env,
      npm_lifecycle_event: "start",
      NPM: npm,
      SCRIPT: `${script}\nsetTimeout(() => console.log("stayed"), 1_000)`,
    },
    stdio: ["pipe", "pipe", "inherit", "pipe"],
  })
  let said = ""
  shell.stdout!.on("data", (bytes: Buffer) => {
    said += bytes.toString()
    if (said === "running\n") shell.stdin!.end("\n")
    if (said.endsWith("stayed\n")) shell.stdio[3]!.destroy()
  })
  await once(shell.stdout!, "close")
  expect(said).toBe("running\nstayed\nstopped\n")
})
