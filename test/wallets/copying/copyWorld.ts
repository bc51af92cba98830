/** A copy reader over memory, with given prices and names. */
import { Effect, Layer } from "effect"
import { CopyReader } from "../../../src/wallets/copying/CopyReader.ts"
import { FollowStore } from "../../../src/wallets/copying/FollowStore.ts"
import { FollowStoreUnavailable } from "../../../src/api/schemas/Copying.ts"
import type { Mint } from "../../../src/domain/Address.ts"
import { PriceBook } from "../../../src/tokens/PriceBook.ts"
import { TokenBook } from "../../../src/tokens/TokenBook.ts"
import * as MemoryFollows from "../../support/memoryFollows.ts"

/** Prices and names of a test. */
export interface CopyMarket {
  /** Micro-dollars per smallest unit. */
  readonly price: (mint: Mint) => bigint | null
  readonly isStale?: () => boolean
  readonly symbol?: (mint: Mint) => string | null
  /** Called with each mint queued for loading. */
  readonly warmed?: (mint: Mint) => void
}

const pricesOf = ({ isStale = () => false, price, warmed = () => undefined }: CopyMarket) =>
  Layer.succeed(PriceBook, {
    at: () => ({
      of: (mint) => {
        const micros = price(mint)
        return micros === null ? null : { sol: null, usd: { numerator: micros, denominator: 1n } }
      },
      lifetime: null,
      isStale: isStale(),
      silentMs: 0,
      clock: { slot: 1, epoch: 0, unixTimestamp: 0 }
    }),
    warm: (mint) => Effect.sync(() => warmed(mint))
  })

const namesOf = ({ symbol = () => null, warmed = () => undefined }: CopyMarket) =>
  Layer.succeed(TokenBook, {
    read: (mint) => {
      const name = symbol(mint)
      const observation = { slot: 1, observedAtMs: 1 }
      const metadata = { name, symbol: name, uri: null }
      return name === null ? null : { _tag: "Token", facts: null, metadata, observation }
    },
    named: () => [],
    commitment: "confirmed",
    warm: (mint) => Effect.sync(() => warmed(mint))
  })

/** A reader with the store that it reads from. */
export const readerOver = (market: CopyMarket, store: Layer.Layer<FollowStore> = MemoryFollows.layer) =>
  CopyReader.layer.pipe(Layer.provideMerge(store), Layer.provide([pricesOf(market), namesOf(market)]))

const down = () => new FollowStoreUnavailable({ cause: new Error("away") })

/** A store on which every call fails. */
export const storeUnavailable = Layer.succeed(FollowStore, {
  recordFollow: down,
  recordFill: down,
  forgetOthers: down,
  progress: down,
  inTurn: down,
  find: down,
  follows: down,
  fills: down
})
