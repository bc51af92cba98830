import { defineConfig } from "vitest/config"

// Test files share threads and module state: three to four times faster, and every layer is built per file anyway.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "threads",
    isolate: false,
    globalSetup: ["test/support/databaseServer.ts"],
    testTimeout: 20_000,
    hookTimeout: 60_000
  }
})
