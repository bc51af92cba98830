/** `npm run test:clickhouse`: installs the engine of ClickHouse into a cache folder, beside the lock, and runs the tests that need it. */
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ENGINE_FOLDER as folder, installedVersion } from "./cluster/engineFolder.ts"

const VERSION = "3.4.0"

/** With `--json` standard output is for the figures of the benchmark alone. */
const ERRORS = 2
const OUTPUT = process.argv.includes("--json") ? ERRORS : 1

const run = (command: string, args: ReadonlyArray<string>, output: number = OUTPUT): void => {
  const { status } = spawnSync(command, args, {
    stdio: ["ignore", output, ERRORS],
    env: { ...process.env, FATHOM_CHDB: folder }
  })
  if (status !== 0) {
    process.exit(status ?? 1)
  }
}

if (installedVersion(folder) !== VERSION) {
  process.stderr.write(`Installing chdb ${VERSION}, the engine of ClickHouse (550 MB), into ${folder}\n`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), '{"name":"fathom-clickhouse-engine","private":true}\n')
  run("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", "--no-package-lock", `chdb@${VERSION}`])
}
run(process.execPath, [
  join("node_modules", "vitest", "vitest.mjs"),
  "run",
  "--config",
  "scripts/config/vitest.ts",
  ...[
    "MarketStoresClickHouse",
    "contact",
    "readViews",
    "retention",
    "spool",
    "tradeColumns",
    "tradeQueries",
    "writeQueue"
  ].map((name) => `test/market/history/${name}.test.ts`)
])
if (!process.argv.includes("--no-bench")) {
  run(process.execPath, ["scripts/bench/clickhouse.ts", ...process.argv.slice(2)], 1)
}
