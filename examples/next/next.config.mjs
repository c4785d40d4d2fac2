/** The cabinet is bundled already: Next loads it from node_modules, where PostgreSQL's binaries are, too. */
export default {
  serverExternalPackages: ["data-cabinet"],
}
