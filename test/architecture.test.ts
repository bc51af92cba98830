import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"

const capabilities = [
  "access",
  "alerts",
  "amm",
  "callouts",
  "copying",
  "funding",
  "market",
  "perps",
  "quotes",
  "solana",
  "tokens",
  "tracker",
  "trades",
  "wallets"
]

/** What each folder of src/ may import from the others. Files at the root count as folders. */
const folders: Record<string, ReadonlyArray<string>> = {
  domain: [],
  amm: ["domain"],
  api: ["domain"],
  client: ["api", "domain"],
  solana: ["domain"],
  storage: [],
  quotes: ["amm", "domain", "solana"],
  trades: ["amm", "domain", "solana"],
  market: ["amm", "domain", "quotes", "solana", "storage", "tokens", "trades"],
  tokens: ["amm", "domain", "quotes", "solana", "trades"],
  funding: ["domain"],
  perps: ["domain"],
  alerts: ["domain", "market", "storage", "tokens"],
  callouts: ["domain", "market", "storage"],
  copying: ["domain", "market", "storage", "tokens", "wallets"],
  wallets: ["domain", "market", "storage", "tokens", "trades"],
  tracker: ["access", "domain", "market", "solana", "storage", "tokens", "trades", "wallets"],
  access: ["domain", "storage"],
  postgres: ["access", "domain"],
  simulator: ["amm", "domain", "solana"],
  server: ["api", "domain", ...capabilities],
  testing: ["api", "client", "domain", "server", "simulator", ...capabilities],
  "index.ts": ["domain", ...capabilities],
  "App.ts": ["Upstreams.ts", "domain", "postgres", "server", ...capabilities],
  "Upstreams.ts": ["domain", "server", "simulator", ...capabilities],
  "main.ts": ["App.ts", "access", "api", "domain", "postgres"]
}

/** Who may import a package. `effect` itself is free to all but `amm`, which is plain arithmetic. */
const packages: Record<string, ReadonlyArray<string>> = {
  effect: [
    "App.ts",
    "Upstreams.ts",
    "access",
    "alerts",
    "api",
    "callouts",
    "client",
    "copying",
    "domain",
    "funding",
    "index.ts",
    "main.ts",
    "market",
    "perps",
    "postgres",
    "quotes",
    "server",
    "simulator",
    "solana",
    "storage",
    "testing",
    "tokens",
    "tracker",
    "trades",
    "wallets"
  ],
  "effect/cli": ["access", "main.ts"],
  "effect/encoding": ["client", "server", "simulator", "solana"],
  "effect/http": ["Upstreams.ts", "client", "funding", "market", "perps", "server", "simulator", "solana", "testing"],
  "effect/http-api": ["api", "client", "main.ts", "server", "testing"],
  "effect/net": ["access", "server"],
  "effect/persistence": ["funding", "solana"],
  "effect/socket": ["Upstreams.ts", "client", "simulator", "solana"],
  "effect/sql": ["access", "alerts", "callouts", "copying", "market", "postgres", "storage", "tracker", "wallets"],
  "@effect/platform-node": ["App.ts", "main.ts", "server", "simulator", "testing"],
  "@effect/sql-pg": ["access", "alerts", "callouts", "copying", "market", "postgres", "tracker"],
  bs58: ["domain", "simulator"],
  "node:child_process": ["postgres"],
  "node:crypto": ["access", "postgres", "server", "simulator", "solana", "tracker"],
  "node:fs": ["postgres", "solana"],
  "node:http": ["server", "simulator", "testing"],
  "node:module": ["postgres"],
  "node:net": ["server"],
  "node:os": ["postgres"],
  "node:path": ["postgres", "solana"],
  "node:querystring": ["server"],
  "node:sqlite": ["postgres"],
  "node:v8": ["solana"],
  "node:worker_threads": ["simulator", "solana"],
  "node:zlib": ["access"],
  ws: ["server"]
}

const folderOf = (file: string) => file.split("/")[1] ?? ""

const importsOf = (file: string) =>
  Array.from(readFileSync(file, "utf8").matchAll(/(?:from|import) "([^"]+)"/g), ([, path]) => path ?? "")

const allows = (from: string, file: string, path: string) => {
  if (path.startsWith(".")) {
    const to = folderOf(normalize(join(dirname(file), path)))
    return from === to || folders[from]?.includes(to) === true
  }
  return packages[path]?.includes(from) === true
}

describe("the import table", () => {
  it.each(globSync("src/**/*.ts"))("holds for %s", (file) => {
    const broken = importsOf(file).filter((path) => !allows(folderOf(file), file, path))
    assert.deepStrictEqual(broken, [], `${file} imports what ${folderOf(file)} may not`)
  })
})

describe("the tree", () => {
  it("is two folders deep at most, migrations excepted", () => {
    const deep = globSync("src/*/*/**/*.ts").filter((file) => !file.startsWith("src/postgres/migrations/"))
    assert.deepStrictEqual(deep, [])
  })
})
