import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

// Test files share processes and module state: three to four times faster, and every layer is built per file anyway. Processes, not
// threads: V8 has one registry of compiled code for all threads of a process, and aborts the whole run when they disagree about it.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks",
    isolate: false,
    // Half as many again as cores: some files wait for timeouts of real servers most of their time.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    silent: "passed-only",
    globalSetup: ["test/support/databaseServer.ts", "test/support/appServer.ts"],
    testTimeout: 180_000,
    hookTimeout: 120_000
  }
})
