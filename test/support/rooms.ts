/** The rooms of src/ and what each may import. */

/** Rooms that hold one capability each. */
const capabilities = [
  "access",
  "alerts",
  "callouts",
  "chain",
  "funding",
  "live",
  "market",
  "past",
  "perps",
  "programs",
  "quotes",
  "tokens",
  "wallets"
]

/** Rooms that each room of src/ may import from. Files at the root of src/ count as rooms. */
export const folders: Record<string, ReadonlyArray<string>> = {
  domain: [],
  operations: ["domain"],
  programs: ["domain"],
  api: ["domain"],
  client: ["api", "domain"],
  // The pages run in the browser. They use the contract's types and the parts of the client that need no package.
  web: ["api", "client"],
  storage: ["domain", "operations"],
  // Account writes travel over a bus in `storage`. Decoding reads swaps with the layouts of `programs`.
  chain: ["domain", "operations", "programs", "storage"],
  // The pool index and the proofs are kept in the store.
  quotes: ["chain", "domain", "operations", "programs", "storage"],
  tokens: ["chain", "domain", "operations", "programs", "quotes"],
  market: ["chain", "domain", "operations", "programs", "quotes", "storage", "tokens"],
  // The market of a past slot has the books and prices of the live one.
  past: ["chain", "domain", "operations", "programs", "quotes", "tokens"],
  funding: ["domain", "operations"],
  perps: ["chain", "domain", "operations", "programs"],
  alerts: ["domain", "market", "operations", "quotes", "storage", "tokens"],
  callouts: ["domain", "market", "operations", "storage"],
  access: ["domain", "operations", "storage"],
  // `live/market` is the market socket: channels over the frames of `live`.
  live: ["access", "chain", "domain", "market", "operations", "quotes", "storage", "tokens"],
  // The tracker's socket also carries the firings of alerts.
  wallets: ["access", "alerts", "chain", "domain", "live", "market", "operations", "past", "storage", "tokens"],
  // The simulator writes its demo data through the ports of these capabilities.
  simulator: ["alerts", "callouts", "chain", "domain", "market", "programs", "wallets"],
  http: ["api", "domain", "operations", ...capabilities],
  testing: ["client", "domain", "http", "simulator", ...capabilities],
  "index.ts": ["domain", ...capabilities],
  app: ["api", "domain", "http", "operations", "simulator", "storage", ...capabilities],
  "main.ts": ["app"]
}

/** Rooms that may also import the schemas of requests and answers in `api/schemas`, and nothing else of `api`. */
export const schemaReaders: ReadonlyArray<string> = [
  "index.ts",
  "operations",
  "simulator",
  "storage",
  "testing",
  ...capabilities
]

/** Rooms that may import a package. `effect` itself is free to all but `programs`, which is plain arithmetic. */
export const packages: Record<string, ReadonlyArray<string>> = {
  effect: [
    "access",
    "alerts",
    "api",
    "app",
    "callouts",
    "chain",
    "client",
    "domain",
    "funding",
    "http",
    "index.ts",
    "live",
    "main.ts",
    "market",
    "operations",
    "past",
    "perps",
    "quotes",
    "simulator",
    "storage",
    "testing",
    "tokens",
    "wallets"
  ],
  "effect/ai": ["http"],
  "effect/cli": ["app", "main.ts"],
  "effect/encoding": ["chain", "client", "http", "simulator"],
  "effect/http": [
    "access",
    "app",
    "chain",
    "client",
    "funding",
    "http",
    "market",
    "operations",
    "perps",
    "simulator",
    "testing",
    "tokens"
  ],
  "effect/http-api": ["api", "app", "client", "http", "testing", "web"],
  "effect/net": ["access", "app", "http", "operations"],
  "effect/observability": ["operations"],
  "effect/persistence": ["access", "chain", "funding", "operations", "perps", "storage", "wallets"],
  "effect/socket": ["app", "chain", "client", "simulator"],
  "effect/sql": ["access", "alerts", "callouts", "market", "quotes", "storage", "wallets"],
  "@clickhouse/client": ["storage"],
  "hyparquet-writer": ["storage"],
  "@grpc/grpc-js": ["chain", "simulator"],
  "@grpc/proto-loader": ["chain"],
  "@effect/platform-node": ["app", "http", "main.ts", "operations", "simulator", "storage", "testing"],
  "@effect/sql-pg": ["access", "alerts", "callouts", "market", "quotes", "storage", "wallets"],
  "node:child_process": ["storage"],
  "node:crypto": ["access", "chain", "http", "live", "market", "past", "quotes", "simulator", "storage"],
  "node:diagnostics_channel": ["app", "simulator"],
  "node:fs": ["chain", "http", "market", "quotes", "simulator", "storage"],
  "node:fs/promises": ["simulator"],
  "node:http": ["http", "operations", "simulator", "testing"],
  "node:module": ["quotes", "storage"],
  "node:net": ["http"],
  "node:os": ["chain", "storage"],
  "node:path": ["app", "chain", "http", "market", "quotes", "storage"],
  "node:perf_hooks": ["operations"],
  "node:querystring": ["http"],
  "node:sqlite": ["storage"],
  "node:stream": ["http", "storage"],
  "node:stream/promises": ["storage"],
  "node:v8": ["chain", "market", "operations", "simulator"],
  "node:vm": ["operations"],
  "node:url": ["chain"],
  "node:worker_threads": ["chain", "market", "quotes", "simulator"],
  "node:zlib": ["access", "chain", "http", "market", "simulator", "storage"],
  "lightweight-charts": ["web"],
  "openid-client": ["access"],
  preact: ["web"],
  "preact-iso": ["web"],
  "preact/hooks": ["web"],
  ws: ["http"]
}

/** Folders of a room, each with imports only from folders to its left. */
export const orderedFolders: Record<string, ReadonlyArray<string>> = {
  market: ["columnar", "model", "memory", "history", "export", "tape", "reads"]
}
