/**
 * The same endpoint written by hand on Fastify, as a careful author would: the same key check, sliding budget, strict
 * query, pricing, headers and body, with Fastify's compiled response serializer.
 */
import Fastify, { type FastifyReply, type FastifyRequest } from "fastify"
import { Redacted } from "effect"
import { KeyedBudget } from "../../../src/access/KeyedBudget.ts"
import { hashSecret, isWellFormed } from "../../../src/access/keyFormat.ts"
import { type Address, isAddress } from "../../../src/domain/Address.ts"
import { budgets } from "../../../src/api/schemas/Budget.ts"
import type { QuoteRequest } from "../../../src/api/schemas/Quote.ts"
import { bestDirect } from "../../../src/quotes/bestDirect.ts"
import { SOL_FEE_BPS } from "../../../src/quotes/directRoute.ts"
import { directRoute, spotQuote } from "../../../src/quotes/spotQuote.ts"
import { warmPools } from "../warmPools.ts"
import { announce, knownKeys } from "./world.ts"

const pepper = Redacted.make("bench")
const keys = new Map(knownKeys.map(({ id, secret }) => [hashSecret(pepper, secret), { id, scopes: ["md.read"] }]))
const meter = new KeyedBudget(budgets.quote)
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

const admit = (request: FastifyRequest) => {
  const bearer = request.headers.authorization ?? ""
  const secret = Redacted.make(bearer.startsWith("Bearer ") ? bearer.slice("Bearer ".length) : "")
  return isWellFormed(secret) ? keys.get(hashSecret(pepper, secret)) : undefined
}

const app = Fastify({ logger: false })
app.get("/api/v1/spot/quote", { schema: { response } }, (request, reply) => {
  const id = crypto.randomUUID()
  const key = admit(request)
  if (key === undefined || !key.scopes.includes("md.read")) {
    return refuse(reply, id, 401, "invalid_api_key")
  }
  const nowMs = Date.now()
  const verdict = meter.admit(key.id, 1, performance.now())
  const resetAt = Math.ceil((nowMs + verdict.resetInMs) / 1000)
  const left = Math.ceil((resetAt * 1000 - nowMs) / 1000)
  reply.headers({
    "x-request-id": id,
    "x-content-type-options": "nosniff",
    "access-control-allow-origin": "*",
    "access-control-expose-headers": EXPOSED,
    "cache-control": "no-store",
    "x-ratelimit-limit": "300",
    "x-ratelimit-remaining": String(verdict.remaining),
    "x-ratelimit-reset": String(resetAt),
    "x-ratelimit-budget": "quote",
    "x-ratelimit-cost": "1",
    "ratelimit-policy": `"quote";q=300;w=60`,
    ratelimit: `"quote";r=${verdict.remaining};t=${left}`
  })
  if (verdict._tag === "Refused") {
    return refuse(reply, id, 429, "rate_limited")
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
  const moment = { nowMs, freshness, clock, proofs: { provenAtSlot: () => null } }
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

await app.listen({ port: 0, host: "127.0.0.1" })
const address = app.server.address()
announce(typeof address === "object" && address !== null ? address.port : 0)
