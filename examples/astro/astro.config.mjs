import node from "@astrojs/node"
import { defineConfig } from "astro/config"

export default defineConfig({
  output: "server",
  adapter: node({ mode: "standalone" }),
  // Senders are other sites and programs: Astro would refuse the forms that they post.
  security: { checkOrigin: false },
})
