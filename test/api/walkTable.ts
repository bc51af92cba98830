/** The calls of each operation, and the setup of each answer that it declares. An operation without an entry fails. */
import { SOL, USDC } from "../../src/domain/Address.ts"
import type { Operation } from "../support/openapi.ts"
import { LONELY, TOKEN as TOY } from "../support/market.ts"
import { mintOf } from "../market/tape/tape.ts"
import {
  cookieAlone,
  ENDING_SESSION,
  FULL_SESSION,
  headersOf,
  LAST_ID,
  type Offer,
  pageHeaders,
  type Request,
  ROTATING_SESSION,
  sessionHeaders,
  SIGN_IN_TOKEN,
  SPENT_SESSION,
  type Way,
  alertOn,
  anything,
  batchOnce,
  bySession,
  groupOnce,
  nowhere,
  ofNewAlert,
  ofWalletAlert,
  setAlert,
  unreachable,
  inSimulation,
  isClosed,
  malformed,
  onTape,
  overToys,
  raw,
  tooLarge,
  trackNowhere
} from "./walkRequests.ts"
import { readAnswers, readCalls } from "./walkReads.ts"
import { signature } from "../chain/rpc/statusNode.ts"

const signIn = { body: { token: SIGN_IN_TOKEN }, headers: pageHeaders }

const unknownLink = { operation: "sessions.open", request: { ...signIn, body: { token: "unknown" } } }

const manyAttempts = Array.from({ length: 20 }, () => unknownLink)
const newKey = { body: { name: "walked" } }
const noKey = { params: { id: "key_none" } }

/** A call of each operation that it answers well. */
export const valid: Readonly<Record<string, (offer: Offer) => Request>> = {
  "system.describe": () => ({}),
  "system.freshness": () => ({}),
  "system.rootFreshness": () => ({}),
  "system.live": () => ({}),
  "system.ready": () => ({}),
  "account.key": () => ({}),
  "accountKeys.list": () => ({ headers: cookieAlone }),
  "accountKeys.create": () => ({ ...newKey, headers: sessionHeaders }),
  "accountKeys.change": () => ({ ...noKey, body: { name: "changed" }, headers: sessionHeaders }),
  "accountKeys.revoke": () => ({ ...noKey, headers: sessionHeaders }),
  "accountKeys.rotate": () => ({ ...noKey, body: {}, headers: sessionHeaders }),
  "accountKeys.disable": () => ({ ...noKey, headers: sessionHeaders }),
  "accountKeys.enable": () => ({ ...noKey, headers: sessionHeaders }),
  "accountKeys.audit": () => ({ headers: cookieAlone }),
  "accountKeys.plans": () => ({ headers: cookieAlone }),
  "sessions.current": () => ({ headers: cookieAlone }),
  "sessions.open": () => signIn,
  "sessions.close": () => ({ headers: sessionHeaders }),
  "sessions.closeAll": () => ({ headers: sessionHeaders }),
  "accountFunding.wallets": () => ({}),
  "accountFunding.catalog": () => ({ query: { limit: "3" } }),
  "accountFunding.balances": () => ({}),
  "accountFunding.depositAddress": ({ asset, network, wallet }) => ({ query: { wallet, network, asset } }),
  "spot.quote": ({ mint }) => ({ query: { inputMint: SOL, outputMint: mint, amount: "1000000000" } }),
  "spot.stream": ({ mint }) => ({
    query: { inputMint: SOL, outputMint: mint, amount: "1000000000", durationSeconds: "1", intervalMs: "250" }
  }),
  "spot.exitCheck": ({ mint }) => ({ body: { mint, amount: "1000000" } }),
  "spot.quotes": ({ mint }) => ({
    body: { quotes: [{ inputMint: SOL, outputMint: mint, amount: "1000000000", twoSided: true }] }
  }),
  "routing.route": ({ mint }) => ({ body: { inputMint: SOL, outputMint: mint, amount: "1000000000" } }),
  "market.chart": ({ mint }) => ({ params: { token: mint } }),
  "market.lighthouse": () => ({}),
  "market.overview": () => ({}),
  "market.movement": () => ({ query: { rank: "trades", window: "5m", minLiquidityUsd: "0" } }),
  "market.discovery": () => ({ query: { stage: "trending" } }),
  "tokens.facts": ({ mint }) => ({ params: { chain: "solana", address: mint } }),
  "tokens.risk": ({ mint }) => ({ params: { chain: "solana", address: mint } }),
  "tokens.liquidity": ({ mint }) => ({ params: { chain: "solana", address: mint } }),
  "tokens.prices": ({ mint }) => ({ body: { mints: [mint, SOL] } }),
  ...readCalls,
  "topTraders.rank": ({ mint }) => ({ params: { chain: "solana", address: mint } }),
  "wallets.summary": ({ trader }) => ({ body: { wallets: [trader] } }),
  "wallets.positions": ({ trader }) => ({
    params: { wallet: trader },
    query: { sort: "value", minValueUsd: "0.01", limit: "2" }
  }),
  "wallets.balances": ({ trader }) => ({ params: { wallet: trader }, query: { limit: "2" } }),
  "wallets.lots": ({ trader }) => ({ params: { wallet: trader }, query: { method: "fifo", limit: "2" } }),
  "wallets.fundedBy": ({ trader }) => ({ params: { wallet: trader } }),
  "wallets.performance": ({ trader }) => ({ params: { wallet: trader } }),
  "wallets.trades": ({ trader }) => ({ params: { wallet: trader }, query: { limit: "2" } }),
  "wallets.transfers": ({ trader }) => ({ params: { wallet: trader }, query: { limit: "2" } }),
  "wallets.pnlHistory": ({ trader }) => ({ params: { wallet: trader }, query: { days: "7" } }),
  "tracker.wallets": () => ({}),
  "tracker.track": () => trackNowhere,
  "tracker.trackBatch": () => ({ body: { wallets: [{ wallet: nowhere }] } }),
  "tracker.changeWallet": () => ({ params: { wallet: nowhere }, body: { label: "walked" } }),
  "tracker.createGroup": () => ({ body: { name: "Walked" } }),
  "tracker.renameGroup": () => ({ params: { id: "grp_none" }, body: { name: "Walked" } }),
  "tracker.deleteGroup": () => ({ params: { id: "grp_none" } }),
  "tracker.untrack": () => ({ params: { wallet: nowhere } }),
  "tracker.snapshot": () => ({}),
  "tracker.trades": () => ({}),
  "tracker.session": () => ({}),
  "perps.quote": () => ({ query: { symbol: "BTC", side: "buy", size: "0.5" } }),
  "perps.funding": () => ({ query: { venue: "hl", symbol: "BTC", limit: "2" } }),
  "perps.markets": () => ({ query: { limit: "3" } }),
  "alerts.list": () => ({}),
  "alerts.create": ({ mint }) => ({ body: alertOn(mint) }),
  "alerts.events": () => ({}),
  "alerts.get": () => ({ params: { id: "al_none" } }),
  "alerts.change": () => ({ params: { id: "al_none" }, body: { note: "changed" } }),
  "alerts.remove": () => ({ params: { id: "al_none" } }),
  "copying.follows": () => ({}),
  "copying.follow": ({ follow }) => ({ params: { id: follow } }),
  "copying.fills": ({ follow }) => ({ query: { followId: follow } }),
  "copying.pnl": () => ({ query: { groupBy: "follow" } }),
  "callouts.feed": () => ({}),
  "callouts.token": ({ mint }) => ({ params: { mint } })
}

const requestOf = (id: string): Request => valid[id]?.(anything) ?? {}

const nothingThere = { inputMint: LONELY, outputMint: SOL, amount: "5" }
// The native engine prices trades that begin or end in SOL.
const withoutSol = { inputMint: TOY, outputMint: USDC, amount: "1000" }
const named = { body: alertOn(nowhere), headers: { "idempotency-key": "walked-once" } }
const noAlert = { params: { id: "al_none" } }

const namedBefore = (request: Request): Way => ({
  world: "bare",
  key: "w",
  before: [{ operation: "alerts.create", request: named }],
  request
})

/** A wallet is tracked first, under an idempotency key. */
const trackedBefore = (request: Request): Way => ({
  world: "bare",
  key: "w",
  before: [
    { operation: "tracker.track", request: { ...trackNowhere, headers: { "idempotency-key": "tracked-once" } } }
  ],
  request
})

/** A group is created first. */
const ofNewGroup = (body?: object): Way => ({
  world: "bare",
  key: "w",
  before: [{ operation: "tracker.createGroup", request: { body: { name: "Walked" } } }],
  request: { params: { id: LAST_ID }, ...(body !== undefined && { body }) }
})

/** A key is made first, with the session of these headers. */
const ofNewKey = (headers: Readonly<Record<string, string>>, body?: object): Way =>
  bySession({ params: { id: LAST_ID }, headers, ...(body !== undefined && { body }) }, [
    { operation: "accountKeys.create", request: { ...newKey, headers } }
  ])

const fullHeaders = headersOf(FULL_SESSION)
const expired = { id: "key_e" }

/** Answers of operations that only a session may ask for. */
const ofSession = (operation: Operation): Readonly<Record<number, Way>> => {
  const request = requestOf(operation.id)
  return {
    200: bySession(request),
    400: bySession({ ...request, query: { unheardOf: "1" } }),
    401: bySession({ ...request, headers: {} }),
    404: bySession(request),
    413: bySession({ ...request, body: tooLarge }),
    415: bySession({ ...request, headers: { ...request.headers, "content-type": "text/plain" } }),
    429: bySession({ ...request, headers: headersOf(SPENT_SESSION) }),
    500: { world: "broken", key: null, request },
    503: { world: "without a limiter", key: null, request }
  }
}

const isOfSession = ({ id }: Operation) => id.startsWith("accountKeys.")

/** Answers that only some operations have. */
const special: Readonly<Record<string, Readonly<Record<number, Way>>>> = {
  "alerts.create": {
    200: namedBefore(named),
    201: inSimulation({ body: alertOn(nowhere) }),
    // As many as an account may have.
    409: { world: "bare", key: "f", before: Array.from({ length: 100 }, () => setAlert), request: setAlert.request },
    422: namedBefore({ ...named, body: alertOn(SOL) })
  },
  "alerts.get": { 200: ofWalletAlert, 404: inSimulation(noAlert) },
  "alerts.change": {
    200: ofNewAlert({ note: "changed" }),
    404: inSimulation({ ...noAlert, body: { note: "changed" } })
  },
  "alerts.remove": { 200: ofNewAlert(), 404: inSimulation(noAlert) },
  "tracker.track": {
    200: trackedBefore(trackNowhere),
    201: inSimulation(trackNowhere),
    409: { world: "bare", key: "f", request: trackNowhere },
    422: trackedBefore({ body: { wallet: SOL }, headers: { "idempotency-key": "tracked-once" } })
  },
  "tracker.trackBatch": {
    409: { world: "bare", key: "f", request: { body: { wallets: [{ wallet: nowhere }] } } },
    422: {
      world: "bare",
      key: "w",
      before: [{ operation: "tracker.trackBatch", request: batchOnce }],
      request: { ...batchOnce, body: { wallets: [{ wallet: SOL }] } }
    }
  },
  "tracker.changeWallet": {
    200: trackedBefore({ params: { wallet: nowhere }, body: { label: "walked" } }),
    404: inSimulation({ params: { wallet: SOL }, body: { label: "walked" } })
  },
  "tracker.createGroup": {
    201: inSimulation({ body: { name: "Walked" } }),
    409: { world: "bare", key: "f", request: { body: { name: "Walked" } } },
    422: {
      world: "bare",
      key: "w",
      before: [{ operation: "tracker.createGroup", request: groupOnce }],
      request: { ...groupOnce, body: { name: "Other" } }
    }
  },
  "tracker.renameGroup": {
    200: ofNewGroup({ name: "Renamed" }),
    404: inSimulation({ params: { id: "grp_none" }, body: { name: "Walked" } })
  },
  "tracker.deleteGroup": { 200: ofNewGroup(), 404: inSimulation({ params: { id: "grp_none" } }) },
  "accountKeys.create": {
    201: bySession({ ...newKey, headers: headersOf(ROTATING_SESSION) }),
    409: bySession({ ...newKey, headers: fullHeaders })
  },
  "accountKeys.change": {
    200: ofNewKey(sessionHeaders, { name: "changed" }),
    // Its place has been taken since it expired.
    409: bySession({ params: expired, body: { expiresAtMs: null }, headers: fullHeaders })
  },
  "accountKeys.revoke": { 200: ofNewKey(sessionHeaders) },
  "accountKeys.rotate": {
    201: ofNewKey(headersOf(ROTATING_SESSION), {}),
    // The overlap of an earlier rotation lasts.
    409: bySession({ params: { id: "key_g" }, body: {}, headers: fullHeaders }, [
      { operation: "accountKeys.rotate", request: { params: { id: "key_h" }, body: {}, headers: fullHeaders } }
    ])
  },
  "accountKeys.disable": { 200: ofNewKey(sessionHeaders) },
  "accountKeys.enable": {
    200: ofNewKey(sessionHeaders),
    409: bySession({ params: { id: "key_i" }, headers: fullHeaders })
  },
  "sessions.open": {
    200: { world: "bare", key: null, request: signIn },
    401: { world: "bare", key: null, request: unknownLink.request },
    403: { world: "bare", key: null, request: { body: { token: SIGN_IN_TOKEN } } },
    429: { world: "bare", key: null, before: manyAttempts, request: unknownLink.request }
  },
  "sessions.close": {
    200: { world: "bare", key: null, request: {} },
    403: { world: "bare", key: null, request: { headers: cookieAlone } }
  },
  "sessions.closeAll": {
    200: { world: "bare", key: null, request: { headers: headersOf(ENDING_SESSION) } },
    401: { world: "bare", key: null, request: {} },
    403: { world: "bare", key: null, request: { headers: cookieAlone } }
  },
  "copying.follow": { 404: inSimulation({ params: { id: "cf_none" } }) },
  "copying.fills": { 404: inSimulation({ query: { followId: "cf_none" } }) },
  "copying.pnl": { 404: inSimulation({ query: { followId: "cf_none" } }) },
  "routing.status": {
    200: overToys({ params: { id: signature } }),
    404: inSimulation({ params: { id: "1".repeat(64) } })
  },
  "system.ready": { 503: { world: "bare", request: {} } },
  "accountFunding.catalog": { 404: inSimulation({ query: { walletId: "w_unknown" } }) },
  "accountFunding.balances": { 404: inSimulation({ query: { walletId: "w_unknown" } }) },
  "accountFunding.depositAddress": {
    404: inSimulation({ query: { wallet: "w_unknown", network: "n", asset: "a" } })
  },
  "spot.quote": { 404: overToys({ query: nothingThere }), 501: overToys({ query: withoutSol }) },
  "spot.stream": { 404: overToys({ query: nothingThere }), 501: overToys({ query: withoutSol }) },
  "routing.route": { 404: overToys({ body: nothingThere }), 501: overToys({ body: withoutSol }) },
  "market.chart": { 404: inSimulation({ params: { token: nowhere } }) },
  "tokens.facts": { 404: inSimulation({ params: { chain: "solana", address: nowhere } }) },
  ...readAnswers,
  "tokens.liquidity": { 404: inSimulation({ params: { chain: "solana", address: nowhere } }) },
  "market.movement": { 409: onTape({ query: { rank: "trades", minLiquidityUsd: "0", limit: "1" } }, 63) },
  "market.discovery": { 409: onTape({ query: { stage: "trending", limit: "1" } }, 63) },
  "topTraders.rank": { 409: onTape({ params: { chain: "solana", address: mintOf(3) }, query: { limit: "1" } }, 31) }
}

/** The answers that operations have in common. */
const common = (operation: Operation): Readonly<Record<number, Way>> => {
  const request = requestOf(operation.id)
  const bare = (changed: Partial<Way>): Way => ({ world: "bare", request, ...changed })
  return {
    // A call that is closed reads no query; what it cannot do without is a host.
    400: isClosed(operation)
      ? bare({ raw: malformed(operation) })
      : bare({ request: { ...request, query: { ...request.query, unheardOf: "1" } } }),
    401: bare({ key: null }),
    403: bare({ key: "d" }),
    405: bare({ raw: raw("PROPFIND", operation.path, "Host: x") }),
    413: bare({ request: { ...request, body: tooLarge } }),
    414: bare({ raw: raw(operation.method, `${operation.path}?${"x".repeat(8192)}`, "Host: x") }),
    415: bare({ request: { ...request, headers: { "content-type": "text/plain" } } }),
    429: bare({ key: "q" }),
    500: { world: "broken", request },
    503: { world: "without a limiter", request }
  }
}

/** The setup of each declared answer of an operation; an entry that is missing here is missing in the walk. */
export const waysTo = (operation: Operation): ReadonlyMap<number, Way> => {
  const ways = new Map<number, Way>(
    operation.id in valid && operation.statuses.includes(200) ? [[200, inSimulation({})]] : []
  )
  for (const [status, way] of Object.entries({
    ...common(operation),
    ...(isOfSession(operation) ? ofSession(operation) : {}),
    ...special[operation.id]
  })) {
    if (operation.statuses.includes(Number(status)) && unreachable[operation.id]?.includes(Number(status)) !== true) {
      ways.set(Number(status), way)
    }
  }
  return ways
}
