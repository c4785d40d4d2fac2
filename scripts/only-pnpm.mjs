/** Before the packages are installed: stops Yarn, which would install them without the workspace. npm reads package.json's "engines". */
if (!(process.env.npm_config_user_agent ?? "pnpm/").startsWith("pnpm/")) {
  process.stderr.write(
    "pnpm installs this workspace: run npm start or npm test, which call it, or npx pnpm@12.21.0 install.\n",
  )
  process.exit(1)
}
