import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

// Test files share threads and module state: three to four times faster, and every layer is built per file anyway.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "threads",
    isolate: false,
    // Half as many again as cores: some files wait for timeouts of real servers most of their time.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    silent: "passed-only",
    globalSetup: ["test/support/databaseServer.ts", "test/support/appServer.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000
  }
})
