import { defineConfig } from "vitest/config"

// Test files share threads and module state: three to four times faster, and every layer is built per file anyway.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "threads",
    isolate: false,
    maxWorkers: "100%",
    silent: "passed-only",
    globalSetup: ["test/support/databaseServer.ts", "test/support/appServer.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000
  }
})
