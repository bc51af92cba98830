/** Input of both servers: the same keys, and the same eight pools. */
import { Redacted } from "effect"
import { checksum } from "../../../src/access/keyFormat.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { TOKEN } from "../warmPools.ts"

/** Enough keys that none of them spends its budget in a run. */
const KEYS = 10_000

/** Secrets that are well formed and the same in every process. */
export const secrets: ReadonlyArray<string> = Array.from({ length: KEYS }, (_, n) => {
  const body = `svc_test_${String(n).padStart(30, "0")}`
  return body + checksum(body)
})

export const knownKeys = secrets.map((secret, n) => ({ secret: Redacted.make(secret), id: `key_${n}` }))

/** A length makes a request not plain, so that the default handler answers it. */
export const PAST_FAST_PATH = { "content-length": "0" }

/** What is asked for. */
export type Asked = "quote" | "chart" | "token" | "wallet" | "tracker"

const queryOf = (n: number): string => {
  const amount = 1_000_000_000n + BigInt((n * 7919) % 100_000) * 1_000_000n
  return `inputMint=${TOKEN}&outputMint=${SOL}&amount=${amount}&slippageBps=50&outputDecimals=9`
}

const pathOf = (asked: Asked, n: number): string => {
  switch (asked) {
    case "quote":
      return `/api/v1/spot/quote?${queryOf(n)}`
    case "chart":
      return `/api/v1/market/chart/${TOKEN}?resolution=1m&limit=60`
    case "token":
      return `/api/v1/tokens/solana/${TOKEN}`
    case "wallet":
      return "/api/v1/wallets/summary"
    case "tracker":
      return "/api/v1/tracker/snapshot"
  }
}

/** The nth request: every key in turn, and many amounts and wallets. */
export const requestOf = (n: number, asked: Asked = "quote", wallets: ReadonlyArray<string> = []) => {
  const headers = { authorization: `Bearer ${secrets[n % KEYS] ?? ""}` }
  const path = pathOf(asked, n)
  return asked === "wallet"
    ? {
        method: "POST" as const,
        path,
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ wallets: [wallets[n % wallets.length]] })
      }
    : { method: "GET" as const, path, headers }
}

/** Announces the port to the parent process, and answers every message of it with the processor time used so far. */
export const announce = (port: number): void => {
  process.on("message", () => process.send?.(process.cpuUsage()))
  process.stdout.write(`${JSON.stringify({ port })}\n`)
}
