import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"

const capabilities = [
  "access",
  "alerts",
  "callouts",
  "copying",
  "funding",
  "market",
  "perps",
  "pools",
  "programs",
  "quotes",
  "solana",
  "tokens",
  "tracker",
  "trades",
  "wallets"
]

/** Rooms that each room of src/ may import from. Files at the root count as rooms. */
const folders: Record<string, ReadonlyArray<string>> = {
  domain: [],
  programs: ["domain"],
  api: ["domain"],
  client: ["api", "domain"],
  solana: ["domain"],
  storage: ["domain"],
  pools: ["domain", "programs", "quotes", "solana"],
  quotes: ["domain", "pools", "programs", "solana"],
  trades: ["domain", "programs", "solana"],
  tokens: ["domain", "pools", "programs", "quotes", "solana"],
  market: ["domain", "pools", "programs", "solana", "storage", "tokens", "trades"],
  funding: ["domain"],
  perps: ["domain"],
  alerts: ["domain", "market", "storage", "tokens"],
  callouts: ["domain", "market", "storage"],
  copying: ["domain", "storage", "tokens", "wallets"],
  wallets: ["domain", "market", "storage", "tokens", "trades"],
  tracker: ["access", "domain", "market", "solana", "storage", "tokens", "trades", "wallets"],
  access: ["domain", "storage"],
  simulator: ["domain", "programs", "solana"],
  http: ["api", "domain", ...capabilities],
  testing: ["client", "domain", "http", "simulator", ...capabilities],
  "index.ts": ["domain", ...capabilities],
  app: ["domain", "http", "simulator", "storage", ...capabilities],
  "main.ts": ["api", "app", "domain"]
}

/** Who may import a package. `effect` itself is free to all but `programs`, which is plain arithmetic. */
const packages: Record<string, ReadonlyArray<string>> = {
  effect: [
    "app",
    "http",
    "pools",
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
    "quotes",
    "simulator",
    "solana",
    "storage",
    "testing",
    "tokens",
    "tracker",
    "trades",
    "wallets"
  ],
  "effect/cli": ["app", "main.ts"],
  "effect/encoding": ["client", "http", "simulator", "solana"],
  "effect/http": ["app", "client", "funding", "market", "perps", "http", "simulator", "solana", "testing"],
  "effect/http-api": ["api", "client", "main.ts", "http", "testing"],
  "effect/net": ["access", "http"],
  "effect/persistence": ["funding", "solana"],
  "effect/socket": ["app", "client", "simulator", "solana"],
  "effect/sql": ["access", "alerts", "callouts", "copying", "market", "storage", "storage", "tracker", "wallets"],
  "@effect/platform-node": ["app", "main.ts", "http", "simulator", "testing"],
  "@effect/sql-pg": ["access", "alerts", "callouts", "copying", "market", "storage", "tracker"],
  bs58: ["domain", "simulator"],
  "node:child_process": ["storage"],
  "node:crypto": ["access", "storage", "http", "simulator", "solana", "tracker"],
  "node:fs": ["storage", "solana"],
  "node:http": ["http", "simulator", "testing"],
  "node:module": ["storage"],
  "node:net": ["http"],
  "node:os": ["storage"],
  "node:path": ["storage", "solana"],
  "node:querystring": ["http"],
  "node:sqlite": ["storage"],
  "node:v8": ["solana"],
  "node:worker_threads": ["simulator", "solana"],
  "node:zlib": ["access"],
  ws: ["http"]
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

/** Folders of src/ by the files directly in them. */
const filesByFolder = Map.groupBy(globSync("src/**/*.ts"), (file) => dirname(file))

describe("the tree", () => {
  it("is three folders deep at most", () => {
    const deep = globSync("src/*/*/*/**/*.ts")
    assert.deepStrictEqual(deep, [])
  })

  it("has no folder with more than 25 files directly in it", () => {
    const wide = Array.from(filesByFolder).filter(([, files]) => files.length > 25)
    assert.deepStrictEqual(
      wide.map(([folder]) => folder),
      []
    )
  })
})
