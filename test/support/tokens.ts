/** Real readers of tokens over a toy chain and toy pools. */
import { Effect, Layer } from "effect"
import { SOL, USDC } from "../../src/domain/Address.ts"
import type { ChainFeed } from "../../src/chain/ChainFeed.ts"
import { ActivityReader } from "../../src/tokens/ActivityReader.ts"
import { AuditReader } from "../../src/tokens/AuditReader.ts"
import { PriceBook } from "../../src/tokens/PriceBook.ts"
import { RiskReader } from "../../src/tokens/risk/RiskReader.ts"
import * as SignalReader from "../../src/tokens/risk/SignalReader.ts"
import { TokenBook } from "../../src/tokens/TokenBook.ts"
import { TokenReader } from "../../src/tokens/TokenReader.ts"
import { at, constantProduct, ToyChain } from "../quotes/toyChain.ts"
import { classicMint, extendedMint, extension, metadataOf } from "../tokens/mints.ts"
import { type ToyPools, toyPoolBook } from "../tokens/toyPools.ts"

/** A Token-2022 mint with a name of its own and pools against SOL, USDC and something without a price. */
export const TOKEN = at(10)
/** A mint without authorities, name or pools. */
export const PLAIN = at(11)
/** No account. */
export const NOTHING = at(12)
/** An account that no token program would have written. */
export const BROKEN = at(13)
/** A mint whose pools are not loaded. */
export const COLD = at(14)

export const AUTHORITY = at(60)
const [SOL_POOL, USDC_POOL, ODD_POOL, MONEY] = [at(21), at(22), at(23), at(24)]
export const pools = { SOL_POOL, USDC_POOL, ODD_POOL }

const M = 1_000_000n
// At 150 USDC a SOL, one TOKEN is 0.002 SOL, or 0.3 USDC.
const solPool = {
  ...constantProduct(SOL_POOL, TOKEN, SOL, [1000n * M, 2n * 1000n * M], { dex: "raydium-cpmm", slot: 75 }),
  reserves: [1000n * M, 2000n * M] as const
}
const usdcPool = {
  ...constantProduct(USDC_POOL, USDC, TOKEN, [60n * M, 200n * M], { dex: "whirlpool", slot: 74, most: M }),
  reserves: [40n * M, 100n * M] as const
}
const oddPool = {
  ...constantProduct(ODD_POOL, TOKEN, PLAIN, [M, M], { dex: "pumpswap", slot: 73 }),
  reserves: [M, M] as const
}
const money = {
  ...constantProduct(MONEY, SOL, USDC, [1000n * 1000n * M, 150n * 1000n * M], { dex: "raydium-amm-v4", slot: 76 }),
  reserves: [1_000_000n * M, 150_000n * M] as const
}

/** Adjustable state of a test. */
export interface TokenWorld {
  readonly chain: ToyChain
  readonly pools: ToyPools
}

export const makeTokenWorld = (): TokenWorld => {
  const broken = classicMint(BROKEN)
  broken.data[0] = 7
  const named = [extension(1, new Uint8Array(108)), extension(19, metadataOf(TOKEN, "Fern Network", "FERN"))]
  const chain = new ToyChain().put(
    extendedMint(TOKEN, named, { supply: 1_000_000n * M, mintAuthority: AUTHORITY, slot: 70 }),
    classicMint(PLAIN, { supply: 5n, decimals: 0, slot: 71 }),
    classicMint(COLD, { slot: 72 }),
    broken
  )
  chain.fresh = { slot: 77, heardAtMs: 1000, state: "live" }
  return {
    chain,
    pools: { pools: [oddPool, usdcPool, solPool, money], loaded: new Set([TOKEN, PLAIN, USDC]), warmed: new Set() }
  }
}

/** The readers. */
export const tokensOver = ({ chain, pools }: TokenWorld): Layer.Layer<TokenReader | RiskReader | ChainFeed> =>
  Layer.mergeAll(TokenReader.layer, RiskReader.layer.pipe(Layer.provide(AuditReader.layer))).pipe(
    Layer.provide(SignalReader.layer),
    Layer.provide([TokenBook.layer, PriceBook.layer, ActivityReader.layerUnknown]),
    Layer.provide(toyPoolBook(pools)),
    Layer.provideMerge(chain.layer),
    Layer.orDie
  )

/** Waits until an answer is what it should be: what is queued is loaded by other fibers. */
export const eventually = <A, E, R>(ask: Effect.Effect<A, E, R>, isIt: (answer: A) => boolean) =>
  Effect.gen(function* () {
    for (let tries = 0; tries < 200; tries++) {
      const answer = yield* ask
      if (isIt(answer)) {
        return answer
      }
      yield* Effect.yieldNow
    }
    return yield* Effect.die(new Error("waited in vain"))
  })
