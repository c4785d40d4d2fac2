/**
 * Stops other package managers, which would install the packages without the workspace: .yarnrc.yml names this as Yarn, which
 * runs it before anything else, and package.json as the script before an installation. npm reads package.json's "engines".
 */
if (process.env.YARN_IGNORE_PATH !== undefined || !(process.env.npm_config_user_agent ?? "pnpm/").startsWith("pnpm/")) {
  process.stderr.write(
    "pnpm installs this workspace: run npm start or npm test, which call it, or npx pnpm@12.21.0 install.\n",
  )
  process.exit(1)
}
