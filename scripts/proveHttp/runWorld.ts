/** One chain: quotes over HTTP, each followed by the real swap. */
import { NodeHttpClient, NodeSocket } from "@effect/platform-node"
import { ConfigProvider, Effect, Layer, References, Schema } from "effect"
import { type Address, type Mint, SOL } from "../../src/domain/Address.ts"
import { ChainFeed } from "../../src/chain/ChainFeed.ts"
import * as ChainFeedRpc from "../../src/chain/accounts/ChainFeedRpc.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import type { Call } from "../../src/programs/transactions/Call.ts"
import { PoolBook } from "../../src/quotes/pools/PoolBook.ts"
import { derive } from "../../src/quotes/execution/decodeFixture.ts"
import { siteOf } from "../../src/quotes/execution/poolSnapshot.ts"
import type { Runtime } from "../../src/quotes/execution/programRuntime.ts"
import type { Random } from "../../src/quotes/execution/provePool.ts"
import { balanceIn, FEE_PAYER, TRADER, traderAccount, wallet } from "../../src/quotes/execution/traderAccounts.ts"
import { QuoteEngine } from "../../src/quotes/QuoteEngine.ts"
import { type LitesvmNode, litesvmNode } from "../../test/support/litesvmNode.ts"
import { running } from "../../test/support/http.ts"
import { knownKeys, secrets } from "../bench/http/world.ts"
import type { HttpTally } from "./tally.ts"
import type { Place, PoolWorld } from "./worlds.ts"

/** What the trader holds of every mint before a swap. */
const BALANCE = 2n ** 62n
const LARGEST = 2n ** 60n
/** How long a token's pools may take to be loaded, in attempts of `PAUSE`. Slots pass meanwhile. */
const ATTEMPTS = 150
const ATTEMPTS_A_SLOT = 10
const PAUSE = "20 millis"

const Hop = Schema.Struct({
  dex: Schema.String,
  pool: Schema.String,
  inputMint: Schema.String,
  outputMint: Schema.String,
  amountIn: Schema.String,
  amountOut: Schema.String
})
const Quoted = Schema.Struct({
  inAmount: Schema.String,
  outAmount: Schema.String,
  clamped: Schema.Boolean,
  contextSlot: Schema.Int,
  route: Schema.Array(Hop)
})
type Quoted = typeof Quoted.Type
const Refused = Schema.Struct({ error: Schema.Struct({ code: Schema.String, message: Schema.String }) })

const decodeQuoted = Schema.decodeUnknownSync(Quoted)
const decodeRefused = Schema.decodeUnknownSync(Refused)

interface Trade {
  readonly inputMint: Mint
  readonly outputMint: Mint
  readonly amount: bigint
  /** The only pool of a single swap; absent for a route. */
  readonly pool?: Address
}

type Answer = { readonly quote: Quoted } | { readonly refusal: string }

/** Builds the swaps of a route from the chain's current accounts. Throws when one cannot be built. */
const callsOf = (node: LitesvmNode, places: ReadonlyMap<string, Place>, { route }: Quoted): ReadonlyArray<Call> =>
  route.map(({ amountIn, inputMint, pool: address, outputMint }) => {
    const place = places.get(address)
    const pool = place && node.account(place.snapshot.pool.address)
    if (place === undefined || pool === undefined) {
      throw new Error(`the route names pool ${address}, which is not on the chain`)
    }
    const site = { ...siteOf(place.snapshot), pool, accounts: node.account }
    const sides = place.venue.sides(site)
    const mints = [inputMint, outputMint].map((mint) => {
      const found = [sides?.mintA, sides?.mintB].find((one) => one === mint)
      const account = found === undefined ? undefined : node.account(found)
      if (account === undefined) {
        throw new Error(`pool ${address} does not trade ${mint}`)
      }
      return traderAccount(derive, account, 0n).address
    })
    const [from = TRADER, to = TRADER] = mints
    const order = {
      aToB: sides?.mintA === inputMint,
      amount: BigInt(amountIn),
      exactOut: false,
      trader: TRADER,
      from,
      to
    }
    const built = place.venue.swap(site, order)
    if (built === null || built.opens !== undefined) {
      throw new Error(`${place.venue.program.dex} has no such swap of tokens`)
    }
    return { program: place.venue.program.programId, steps: [], units: 0, ...built }
  })

/** Reads a quote over HTTP. Waits while pools are being loaded, and until the service knows the node's newest slot. */
const ask = Effect.fnUntraced(function* (
  node: LitesvmNode,
  { amount, inputMint, outputMint, pool }: Trade,
  key: number
) {
  const { url } = yield* Listening
  const feed = yield* ChainFeed
  const only = pool === undefined ? "" : `&pools=${pool}&directOnly=true`
  const path = `/api/v1/spot/quote?inputMint=${inputMint}&outputMint=${outputMint}&amount=${amount}&slippageBps=50${only}`
  const headers = { authorization: `Bearer ${secrets[key % secrets.length] ?? ""}` }
  let last = "the service did not follow the node"
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const isCurrent = feed.freshness().slot >= node.clock().slot
    const { body, status } = yield* Effect.promise(async () => {
      const response = await fetch(url + path, { headers })
      const body: unknown = await response.json()
      return { status: response.status, body }
    })
    if (status === 200) {
      const quote = decodeQuoted(body)
      if (quote.contextSlot >= node.clock().slot) {
        return { quote } satisfies Answer
      }
    } else {
      const { code, message } = decodeRefused(body).error
      // Pools that are still being loaded are asked for again, and so is a refusal from before the newest slot.
      if (status !== 503 && isCurrent) {
        return { refusal: `${code}: ${message}` } satisfies Answer
      }
      last = code
    }
    if (attempt % ATTEMPTS_A_SLOT === 0) {
      node.pass()
    }
    yield* Effect.sleep(PAUSE)
  }
  return { refusal: last } satisfies Answer
})

/** The trader's accounts before a swap: plenty of the input, none of the output, an empty account on the way. */
const fund = (node: LitesvmNode, mints: ReadonlyArray<string>, places: ReadonlyMap<string, Place>, input: Mint) => {
  const known = new Set(mints)
  const accounts = [...places.values()].flatMap(({ snapshot, venue }) => {
    const sides = venue.sides(siteOf(snapshot))
    return sides === null ? [] : [sides.mintA, sides.mintB].filter((mint) => known.has(mint))
  })
  const held = [...new Set(accounts)].flatMap((mint) => {
    const account = node.account(mint)
    return account === undefined ? [] : [traderAccount(derive, account, mint === input ? BALANCE : 0n)]
  })
  node.write([wallet(TRADER, BALANCE), wallet(FEE_PAYER, BALANCE), ...held])
}

const heldOf = (node: LitesvmNode, mint: Mint): bigint => {
  const account = node.account(mint)
  const own = account && node.account(traderAccount(derive, account, 0n).address)
  return own === undefined ? 0n : balanceIn(own.data)
}

/** What the program does where the service gives no quote: its error, or what it takes and pays. */
const unquoted = (node: LitesvmNode, places: ReadonlyMap<string, Place>, trade: Trade, pool: Address): string => {
  const { amount, inputMint, outputMint } = trade
  const route = [{ dex: "", pool, inputMint, outputMint, amountIn: String(amount), amountOut: "0" }]
  const quote = { inAmount: "0", outAmount: "0", clamped: false, contextSlot: 0, route }
  fund(node, [inputMint, outputMint], places, inputMint)
  const done = node.execute(FEE_PAYER, callsOf(node, places, quote))
  if (done.error !== undefined) {
    return `the program refuses too: ${done.error}`
  }
  return heldOf(node, outputMint) === 0n ? "the program pays nothing for it" : "the program pays for it"
}

/** Executes a quote and compares. */
const settle = (
  node: LitesvmNode,
  places: ReadonlyMap<string, Place>,
  { inputMint, outputMint }: Trade,
  quote: Quoted,
  tally: HttpTally
): void => {
  const dexes = quote.route.map(({ dex }) => dex)
  const path = quote.route.map(({ dex, pool }) => `${dex} ${pool}`).join(", ")
  const calls = callsOf(node, places, quote)
  const done = node.execute(FEE_PAYER, calls)
  const took = BALANCE - heldOf(node, inputMint)
  const paid = heldOf(node, outputMint)
  const isExact = done.error === undefined && String(took) === quote.inAmount && String(paid) === quote.outAmount
  if (isExact) {
    tally.paidAsQuoted(dexes)
  } else {
    const executed = done.error ?? `${took} for ${paid}`
    tally.differs({
      dexes,
      path,
      quoted: `${quote.inAmount} for ${quote.outAmount}`,
      executed
    })
  }
}

/** One unit, two units, the largest amount, or a random one of any size. */
const amountOf = (index: number, random: Random): bigint => {
  const edge = [1n, 2n, LARGEST][Math.floor(index / 8) % 3]
  if (index % 8 === 7 && edge !== undefined) {
    return edge
  }
  const bits = 1 + random(50)
  return Array.from({ length: bits - 1 }).reduce<bigint>((amount) => amount * 2n + BigInt(random(2)), 1n)
}

interface Run {
  readonly swaps: number
  readonly random: Random
  readonly tally: HttpTally
}

const mintsOf = (places: ReadonlyArray<Place>): ReadonlyArray<Mint> => [
  ...new Set(
    places.flatMap(({ snapshot, venue }) => {
      const sides = venue.sides(siteOf(snapshot))
      return sides === null ? [] : [sides.mintA, sides.mintB]
    })
  )
]

const tradeOf = (places: ReadonlyArray<Place>, index: number, random: Random): { trade: Trade; dex: string } | null => {
  const place = places[random(places.length)]
  const sides = place && place.venue.sides(siteOf(place.snapshot))
  if (place === undefined || sides === null || sides === undefined) {
    return null
  }
  const amount = amountOf(index, random)
  const mints = mintsOf(places).filter((mint) => mint !== SOL)
  if (index % 3 === 2 && mints.length > 1) {
    const [from, to] = [mints[random(mints.length)], mints[random(mints.length)]]
    return from === undefined || to === undefined || from === to
      ? null
      : { dex: "routed", trade: { inputMint: from, outputMint: to, amount } }
  }
  const [inputMint, outputMint] = random(2) === 0 ? [sides.mintA, sides.mintB] : [sides.mintB, sides.mintA]
  return { dex: place.venue.program.dex, trade: { inputMint, outputMint, amount, pool: place.snapshot.pool.address } }
}

const swapOnce = Effect.fnUntraced(function* (
  node: LitesvmNode,
  places: ReadonlyMap<string, Place>,
  index: number,
  { random, tally }: Run
) {
  const chosen = tradeOf([...places.values()], index, random)
  if (chosen === null) {
    return
  }
  const { dex, trade } = chosen
  fund(node, mintsOf([...places.values()]), places, trade.inputMint)
  // Writes of a slot have all arrived once the next slot is known.
  node.pass()
  const answer = yield* ask(node, trade, index)
  if ("refusal" in answer) {
    const own = trade.pool === undefined ? "no path of pools" : unquoted(node, places, trade, trade.pool)
    tally.refuses(dex, `${answer.refusal} (${own})`)
  } else if (answer.quote.clamped) {
    tally.refuses(dex, "clamped: the liquidity ends before the amount does")
  } else {
    settle(node, places, trade, answer.quote, tally)
  }
})

/** The service over the node: its own feed, pools and router behind its own HTTP server. */
const serviceOver = ({ rpcUrl, wsUrl }: LitesvmNode) => {
  const feed = ChainFeedRpc.layer({ rpcUrl, wsUrl }).pipe(
    Layer.provide([NodeHttpClient.layerUndici, NodeSocket.layerWebSocketConstructor])
  )
  const env = { STALE_AFTER: "1 hour", DISCOVERY_RATE: "1000", ROUTER_HUBS: SOL }
  return Layer.unwrap(
    Effect.map(
      Layer.build(QuoteEngine.layerRouter.pipe(Layer.provide(PoolBook.layer), Layer.provideMerge(feed))),
      (built) => {
        const shared = Layer.succeedContext(built)
        return running({ keys: knownKeys, engine: shared, feed: shared }).pipe(Layer.merge(shared))
      }
    )
  ).pipe(
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, "None"))
  )
}

/** Runs quotes and swaps on one chain. */
export const runWorld = (
  makeRuntime: () => Runtime,
  programs: ReadonlyMap<Address, Uint8Array>,
  world: PoolWorld,
  run: Run
) =>
  Effect.gen(function* () {
    const latest = Math.max(...world.places.map(({ snapshot }) => snapshot.clock.unixTimestamp))
    const slot = Math.max(...world.places.map(({ snapshot }) => snapshot.clock.slot), 1000)
    const node = yield* litesvmNode(makeRuntime, { slot, unixTimestamp: latest })
    programs.forEach((elf, programId) => node.deploy(programId, elf))
    node.write(Array.from(world.accounts.values(), (account) => ({ ...account, lamports: account.lamports + LARGEST })))
    const places = new Map(world.places.map((place) => [place.snapshot.pool.address, place]))
    yield* Effect.gen(function* () {
      const feed = yield* ChainFeed
      for (let index = 0; index < run.swaps; index++) {
        yield* swapOnce(node, places, index, run)
      }
      return feed.freshness().slot
    }).pipe(Effect.provide(serviceOver(node)))
  }).pipe(Effect.scoped)
