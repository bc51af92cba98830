/**
 * The same endpoints written by hand on Fastify, as a careful author would: the same key check, sliding budget, strict
 * query, headers and body. A quote is priced by the same functions and written by Fastify's compiled serializer. The
 * other answers come from the same readers and are written by `JSON.stringify`.
 */
import Fastify, { type FastifyReply, type FastifyRequest } from "fastify"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { KeyedBudget } from "../../../src/access/KeyedBudget.ts"
import { hashSecret, isWellFormed } from "../../../src/access/keyFormat.ts"
import { type Address, isAddress, type Mint } from "../../../src/domain/Address.ts"
import { budgets } from "../../../src/api/schemas/Budget.ts"
import type { QuoteRequest } from "../../../src/api/schemas/Quote.ts"
import { bestDirect } from "../../../src/quotes/bestDirect.ts"
import { SOL_FEE_BPS } from "../../../src/quotes/directRoute.ts"
import { directRoute, spotQuote } from "../../../src/quotes/spotQuote.ts"
import { MarketReader } from "../../../src/market/reads/MarketReader.ts"
import { TokenReader } from "../../../src/tokens/TokenReader.ts"
import { statusOf, withActivity } from "../../../src/wallets/tracker/overview.ts"
import { TrackerFeed } from "../../../src/wallets/tracker/TrackerFeed.ts"
import { TrackerStore } from "../../../src/wallets/tracker/TrackerStore.ts"
import { WalletReader } from "../../../src/wallets/WalletReader.ts"
import { warmPools } from "../warmPools.ts"
import { filled, manualTape, marketOver, tokens, trackerOver, walletsOver } from "./reads.ts"
import { announce, knownKeys } from "./world.ts"

const pepper = Redacted.make("bench")
const keys = new Map(knownKeys.map(({ id, secret }) => [hashSecret(pepper, secret), { id, scopes: ["md.read"] }]))
const meters = { quote: new KeyedBudget(budgets.quote), rest: new KeyedBudget(budgets.rest) }
const clock = { slot: 1, epoch: 1, unixTimestamp: 1 }
const freshness = { slot: 1, heardAtMs: null, state: "recorded" } as const
const NAMES = new Set(["inputMint", "outputMint", "amount", "slippageBps", "outputDecimals"])
const EXPOSED =
  "X-Request-Id, X-Client-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Budget, " +
  "X-RateLimit-Cost, RateLimit-Policy, RateLimit, Retry-After, Cache-Control, WWW-Authenticate, Idempotency-Replayed, " +
  "Deprecation, Sunset, Link"

const integer = (text: unknown, low: number, high: number): number | null => {
  const value = typeof text === "string" && /^(?:0|[1-9][0-9]{0,15})$/u.test(text) ? Number(text) : NaN
  return value >= low && value <= high ? value : null
}

const parse = (query: Record<string, unknown>): QuoteRequest | null => {
  const { amount, inputMint, outputMint } = query
  const slippageBps = query["slippageBps"] === undefined ? 50 : integer(query["slippageBps"], 1, 1000)
  const outputDecimals = query["outputDecimals"] === undefined ? undefined : integer(query["outputDecimals"], 0, 18)
  const known = Object.keys(query).every((name) => NAMES.has(name))
  const mints = typeof inputMint === "string" && typeof outputMint === "string" && inputMint !== outputMint
  const digits = typeof amount === "string" && /^(?:0|[1-9][0-9]*)$/u.test(amount)
  if (!known || !mints || !digits || slippageBps === null || outputDecimals === null) {
    return null
  }
  const valid = isAddress(inputMint) && isAddress(outputMint) && BigInt(amount) > 0n && BigInt(amount) < 2n ** 64n
  return valid
    ? {
        inputMint: inputMint as Address,
        outputMint: outputMint as Address,
        amount: BigInt(amount),
        slippageBps,
        outputDecimals
      }
    : null
}

const text = { type: "string" } as const
const number = { type: "number" } as const
const integerType = { type: "integer" } as const
const boolean = { type: "boolean" } as const
const numberOrNull = { type: ["number", "null"] } as const
const hop = {
  type: "object",
  properties: {
    dex: text,
    inputMint: text,
    outputMint: text,
    pool: text,
    percent: number,
    amountIn: text,
    amountOut: text,
    priceImpactPct: numberOrNull,
    provenAtSlot: numberOrNull
  }
} as const
const response = {
  200: {
    type: "object",
    properties: {
      inputMint: text,
      outputMint: text,
      inAmount: text,
      outAmount: text,
      minOutAmount: text,
      outUiAmount: number,
      minOutUiAmount: number,
      slippageBps: integerType,
      impactMeasurable: boolean,
      clamped: boolean,
      route: { type: "array", items: hop },
      venues: { type: "array", items: text },
      engine: text,
      priceImpactPct: numberOrNull,
      contextSlot: integerType,
      swapUsdValue: numberOrNull,
      quotedAtMs: integerType,
      stateSlot: integerType,
      stateAgeMs: integerType,
      feeBasis: text,
      requestId: text,
      engineTimeMs: number
    }
  }
} as const

const refuse = (reply: FastifyReply, id: string, status: number, code: string) =>
  reply.code(status).send({ error: { code, message: code }, requestId: id })

const keyOf = (request: FastifyRequest) => {
  const bearer = request.headers.authorization ?? ""
  const secret = Redacted.make(bearer.startsWith("Bearer ") ? bearer.slice("Bearer ".length) : "")
  return isWellFormed(secret) ? keys.get(hashSecret(pepper, secret)) : undefined
}

/** Checks the key and charges a unit. Returns the request id; null when the request has been refused. */
const admit = (request: FastifyRequest, reply: FastifyReply, budget: "quote" | "rest"): string | null => {
  const id = crypto.randomUUID()
  const key = keyOf(request)
  if (key === undefined || !key.scopes.includes("md.read")) {
    refuse(reply, id, 401, "invalid_api_key")
    return null
  }
  const nowMs = Date.now()
  const verdict = meters[budget].admit(key.id, 1, performance.now())
  const resetAt = Math.ceil((nowMs + verdict.resetInMs) / 1000)
  const left = Math.ceil((resetAt * 1000 - nowMs) / 1000)
  const { limit } = budgets[budget]
  reply.headers({
    "x-request-id": id,
    "x-content-type-options": "nosniff",
    "access-control-allow-origin": "*",
    "access-control-expose-headers": EXPOSED,
    "cache-control": "no-store",
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(verdict.remaining),
    "x-ratelimit-reset": String(resetAt),
    "x-ratelimit-budget": budget,
    "x-ratelimit-cost": "1",
    "ratelimit-policy": `"${budget}";q=${limit};w=60`,
    ratelimit: `"${budget}";r=${verdict.remaining};t=${left}`
  })
  if (verdict._tag === "Refused") {
    refuse(reply, id, 429, "rate_limited")
    return null
  }
  return id
}

const app = Fastify({ logger: false })
app.get("/api/v1/spot/quote", { schema: { response } }, (request, reply) => {
  const id = admit(request, reply, "quote")
  if (id === null) {
    return reply
  }
  const wanted = parse(request.query as Record<string, unknown>)
  if (wanted === null) {
    return refuse(reply, id, 400, "invalid_request")
  }
  const startedAt = process.hrtime.bigint()
  const best = bestDirect(warmPools, wanted, clock)
  if (best === null) {
    return refuse(reply, id, 404, "no_route")
  }
  const moment = { nowMs: Date.now(), freshness, clock, proofs: { provenAtSlot: () => null } }
  const quote = spotQuote(wanted, directRoute(wanted, best, moment, BigInt(SOL_FEE_BPS)), moment)
  const engineTimeMs = Math.round(Number(process.hrtime.bigint() - startedAt) / 1000) / 1000
  return reply.send({
    ...quote,
    inAmount: quote.inAmount.toString(),
    outAmount: quote.outAmount.toString(),
    minOutAmount: quote.minOutAmount.toString(),
    route: quote.route.map((hop) => ({
      ...hop,
      amountIn: hop.amountIn.toString(),
      amountOut: hop.amountOut.toString()
    })),
    requestId: crypto.randomUUID(),
    engineTimeMs
  })
})

const service = ManagedRuntime.make(
  filled.pipe(
    Layer.provideMerge(Layer.mergeAll(tokens, marketOver(manualTape), walletsOver(manualTape), trackerOver(manualTape)))
  )
)
const { feed, market, store, token, wallet } = await service.runPromise(
  Effect.all({ feed: TrackerFeed, market: MarketReader, store: TrackerStore, token: TokenReader, wallet: WalletReader })
)

/** Long answers vary by encoding. */
const send = (reply: FastifyReply, answer: unknown) => {
  const text = JSON.stringify(answer)
  if (text.length > 1024) {
    reply.header("vary", "accept-encoding")
  }
  return reply.header("content-type", "application/json").send(text)
}

const hasOnly = (query: unknown, names: ReadonlyArray<string>): boolean =>
  Object.keys(query as object).every((name) => names.includes(name))

const isMint = (text: unknown): text is Mint => typeof text === "string" && isAddress(text)

app.get("/api/v1/market/chart/:token", (request, reply) => {
  const id = admit(request, reply, "rest")
  if (id === null) {
    return reply
  }
  const { token: mint } = request.params as Record<string, unknown>
  const { limit: most = "300", resolution = "1m" } = request.query as Record<string, string>
  const limit = integer(most, 1, 1000)
  if (!isMint(mint) || limit === null || resolution !== "1m" || !hasOnly(request.query, ["limit", "resolution"])) {
    return refuse(reply, id, 400, "invalid_request")
  }
  const wanted = { resolution, denom: "usd", mode: "price", outliers: "include", from: null, to: null, limit } as const
  const { data, knowledge } = Effect.runSync(market.chart(mint, wanted))
  const meta = {
    requestId: id,
    methodVersion: "public-chart-v1",
    chain: data.token.chain,
    tradersBasis: "pool_swaps",
    ...knowledge
  }
  return send(reply, { data, meta })
})

app.get("/api/v1/tokens/:chain/:address", (request, reply) => {
  const id = admit(request, reply, "rest")
  if (id === null) {
    return reply
  }
  const { address, chain } = request.params as Record<string, unknown>
  if (chain !== "solana" || !isMint(address) || !hasOnly(request.query, [])) {
    return refuse(reply, id, 400, "invalid_request")
  }
  const { data, knowledge } = Effect.runSync(token.factsOf(address))
  const meta = { requestId: id, methodVersion: "public-token-v1", chain, ...knowledge }
  return send(reply, { data: { ...data, supply: data.supply?.toString() ?? null }, meta })
})

app.post("/api/v1/wallets/summary", async (request, reply) => {
  const id = admit(request, reply, "rest")
  if (id === null) {
    return reply
  }
  const { wallets } = request.body as Record<string, unknown>
  if (!Array.isArray(wallets) || wallets.length > 100 || !wallets.every(isMint)) {
    return refuse(reply, id, 400, "invalid_request")
  }
  return send(reply, { data: await Effect.runPromise(wallet.rowsOf(wallets)), source: "local" })
})

app.get("/api/v1/tracker/snapshot", (request, reply) => {
  const id = admit(request, reply, "rest")
  if (id === null) {
    return reply
  }
  if (!hasOnly(request.query, [])) {
    return refuse(reply, id, 400, "invalid_request")
  }
  const { groups, wallets } = Effect.runSync(store.overview({ accountId: "local", groupId: null }))
  const tracked = wallets.map((one) => withActivity(one, feed.lastEventAtMs(one.wallet)))
  const nowMs = Date.now()
  return send(reply, { groups, wallets: tracked, status: statusOf(tracked, feed.health(nowMs), nowMs, 500) })
})

await app.listen({ port: 0, host: "127.0.0.1" })
const address = app.server.address()
announce(typeof address === "object" && address !== null ? address.port : 0)
