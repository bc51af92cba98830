import { Context, type Effect } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { TradeStoreUnavailable } from "../../api/schemas/Trade.ts"
import type { LiquidityRequest, StoredLiquidity, StoredOpenings } from "./StoredLiquidity.ts"
import type { StoredSupply, SupplyRequest } from "./StoredSupply.ts"
import type { TapeTrade } from "./TapeTrade.ts"
import type { OpeningsRequest, RelatedOpenings, StoredOpening } from "./WalletOpenings.ts"
import type {
  LargestFound,
  LargestRequest,
  MoneySwapsRequest,
  OlderFound,
  OlderRequest,
  TokenSwapsRequest,
  TradesFound,
  TradesRequest
} from "./TradesRequest.ts"

type Trades = Effect.Effect<ReadonlyArray<TapeTrade>, TradeStoreUnavailable>

/** Reads the stored trades of the open chain, and the changes of supply and liquidity stored with them. */
export class TradeHistory extends Context.Service<
  TradeHistory,
  {
    /** The newest `most` pool swaps of SOL for dollars up to and including a slot, oldest first. */
    solSwaps(slot: number, most: number): Trades
    /**
     * The newest pool swaps of every token for SOL or dollars up to and including a slot, at most `most` of each token, in the
     * order of the chain. Swaps more than `spanMs` older than the newest trade up to the slot are left out.
     */
    moneySwaps(slot: number, spanMs: number, most: number): Trades
    /** The newest pool swaps for SOL or dollars of the requested tokens, each up to and including its own slot. */
    moneySwapsOf(request: MoneySwapsRequest): Trades
    /** The swaps of two tokens whose value the prices of the requested tokens can still change, in the order of the chain. */
    tokenSwapsAfter(request: TokenSwapsRequest): Trades
    /** The newest trades and transfers of a wallet, newest first, without trades of role `pool`. */
    ofWallet(wallet: Address, limit: number): Trades
    /** The newest rows of a wallet before a place, as far back as one query searches. */
    olderOf(request: OlderRequest): Effect.Effect<OlderFound, TradeStoreUnavailable>
    /** The newest pool swaps of a mint before a place, as far back as one query searches. */
    swapsOf(request: TradesRequest): Effect.Effect<TradesFound, TradeStoreUnavailable>
    /** The largest pool swaps of a mint, as far back as one query searches. */
    largestOf(request: LargestRequest): Effect.Effect<LargestFound, TradeStoreUnavailable>
    /** The newest changes of the supply of a mint, one per block, in the order of the chain. */
    supplyOf(request: SupplyRequest): Effect.Effect<StoredSupply, TradeStoreUnavailable>
    /** The newest changes of liquidity of the pools of a mint, or of one pool, newest first. */
    liquidityOf(request: LiquidityRequest): Effect.Effect<StoredLiquidity, TradeStoreUnavailable>
    /** The transfer that opened a wallet's account. */
    openingOf(wallet: Address): Effect.Effect<StoredOpening, TradeStoreUnavailable>
    /** The same, with the newest wallets that this wallet opened, or that its funder opened. */
    openingsOf(request: OpeningsRequest): Effect.Effect<RelatedOpenings, TradeStoreUnavailable>
    /** The first liquidity of the newest `most` pools that were created since a time, newest first. */
    poolsOpened(fromMs: number, most: number): Effect.Effect<StoredOpenings, TradeStoreUnavailable>
  }
>()("fathom/market/model/TradeHistory") {}
