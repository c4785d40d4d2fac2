import node from "@astrojs/node"
import { defineConfig } from "astro/config"

export default defineConfig({
  output: "server",
  adapter: node({ mode: "standalone" }),
  // Senders are other sites and programs: Astro would refuse the forms that they post. src/middleware.ts refuses them
  // everywhere else.
  security: { checkOrigin: false },
})
