import adapter from "@sveltejs/adapter-node"
import { sveltekit } from "@sveltejs/kit/vite"
import { defineConfig } from "vite"

export default defineConfig({
  plugins: [
    sveltekit({
      adapter: adapter(),
      // Senders are other sites and programs: SvelteKit would refuse the forms that they post. src/hooks.server.ts refuses them
      // everywhere else.
      csrf: { trustedOrigins: ["*"] },
    }),
  ],
})
