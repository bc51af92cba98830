/** The columns of exported trades and candles. */
import type { Column } from "../../storage/tableFile.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"

/** The fields that pool swaps and trades of wallets share. */
const ofTrades: ReadonlyArray<Column<TapeTrade>> = [
  { name: "slot", kind: "integer", of: ({ slot }) => slot },
  { name: "index", kind: "integer", of: ({ index }) => index },
  { name: "time", kind: "time", of: ({ timeMs }) => timeMs },
  { name: "signature", kind: "text", of: ({ signature }) => signature },
  { name: "wallet", kind: "text", of: ({ wallet }) => wallet },
  { name: "mint", kind: "text", of: ({ mint }) => mint },
  { name: "side", kind: "text", of: ({ side }) => side },
  { name: "amount", kind: "units", of: ({ amount }) => amount },
  { name: "decimals", kind: "integer", of: ({ decimals }) => decimals },
  { name: "lamports", kind: "units", of: ({ lamports }) => lamports },
  { name: "other_mint", kind: "text", of: ({ otherToken }) => otherToken?.mint ?? null },
  { name: "other_amount", kind: "units", of: ({ otherToken }) => otherToken?.amount ?? null },
  { name: "other_decimals", kind: "integer", of: ({ otherToken }) => otherToken?.decimals ?? null },
  { name: "price_usd", kind: "number", of: ({ priceUsd }) => priceUsd },
  { name: "volume_usd", kind: "nanos", of: ({ volumeUsdNanos }) => volumeUsdNanos },
  { name: "sol_usd", kind: "nanos", of: ({ solUsdNanos }) => solUsdNanos },
  { name: "pool", kind: "text", of: ({ pool }) => pool },
  { name: "dex", kind: "text", of: ({ dex }) => dex },
  { name: "launchpad", kind: "text", of: ({ launchpad }) => launchpad }
]

/** Columns of `trades`: one row per pool swap and mint, as candles count them. */
export const tradeColumns = ofTrades

/** Columns of `wallets`: net trades and transfers of wallets, as positions count them. */
export const walletColumns: ReadonlyArray<Column<TapeTrade>> = [
  ...ofTrades,
  { name: "is_transfer", kind: "flag", of: ({ role }) => role === "transfer" },
  { name: "held_before", kind: "units", of: ({ held }) => held?.before ?? null },
  { name: "held_after", kind: "units", of: ({ held }) => held?.after ?? null },
  // A fee that was left out was not paid; null is a fee of unknown value.
  { name: "fee_usd", kind: "nanos", of: ({ feeUsdNanos }) => (feeUsdNanos === undefined ? 0n : feeUsdNanos) },
  { name: "priority_lamports", kind: "units", of: ({ priorityLamports }) => priorityLamports ?? null },
  { name: "tip_lamports", kind: "units", of: ({ tipLamports }) => tipLamports ?? null },
  { name: "counterparty", kind: "text", of: ({ counterparty }) => counterparty ?? null }
]

/** Columns of `holders`: what a wallet held of a mint after its newest transaction in it. */
export const holderColumns: ReadonlyArray<Column<TapeTrade>> = [
  { name: "mint", kind: "text", of: ({ mint }) => mint },
  { name: "wallet", kind: "text", of: ({ wallet }) => wallet },
  { name: "amount", kind: "units", of: ({ held }) => held?.after ?? null },
  { name: "decimals", kind: "integer", of: ({ decimals }) => decimals },
  { name: "slot", kind: "integer", of: ({ slot }) => slot },
  { name: "time", kind: "time", of: ({ timeMs }) => timeMs },
  { name: "signature", kind: "text", of: ({ signature }) => signature }
]

/** A closed candle of one mint over all pools. Volumes are in billionths of a dollar and of SOL. */
export interface ExportedBar {
  readonly mint: string
  readonly at: Date
  readonly open: number | null
  readonly high: number | null
  readonly low: number | null
  readonly close: number | null
  readonly openSol: number | null
  readonly highSol: number | null
  readonly lowSol: number | null
  readonly closeSol: number | null
  readonly volumeUsdNanos: bigint
  readonly volumeLamports: bigint | null
  readonly trades: bigint
  readonly buys: bigint | null
  readonly traders: number | null
  readonly revision: number
}

/** Columns of `bars`. */
export const barColumns: ReadonlyArray<Column<ExportedBar>> = [
  { name: "mint", kind: "text", of: ({ mint }) => mint },
  { name: "time", kind: "time", of: ({ at }) => at.getTime() },
  { name: "open_usd", kind: "number", of: ({ open }) => open },
  { name: "high_usd", kind: "number", of: ({ high }) => high },
  { name: "low_usd", kind: "number", of: ({ low }) => low },
  { name: "close_usd", kind: "number", of: ({ close }) => close },
  { name: "open_sol", kind: "number", of: ({ openSol }) => openSol },
  { name: "high_sol", kind: "number", of: ({ highSol }) => highSol },
  { name: "low_sol", kind: "number", of: ({ lowSol }) => lowSol },
  { name: "close_sol", kind: "number", of: ({ closeSol }) => closeSol },
  { name: "volume_usd", kind: "nanos", of: ({ volumeUsdNanos }) => volumeUsdNanos },
  { name: "volume_sol", kind: "nanos", of: ({ volumeLamports }) => volumeLamports },
  { name: "trades", kind: "units", of: ({ trades }) => trades },
  { name: "buys", kind: "units", of: ({ buys }) => buys },
  { name: "traders", kind: "integer", of: ({ traders }) => traders },
  { name: "revision", kind: "integer", of: ({ revision }) => revision }
]
