export default defineNuxtConfig({
  compatibilityDate: "2026-11-01",
  telemetry: false,
  // The cabinet is bundled already, and finds PostgreSQL's programs from where it lies: it stays in node_modules.
  nitro: { externals: { external: ["data-cabinet"], trace: false } },
})
