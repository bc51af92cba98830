/** Alerts for tests. */
import type { NewAlert, WalletTrade } from "../../src/api/schemas/Alert.ts"
import { mintOf, MONDAY, walletOf } from "../market/tape/tape.ts"

/** Start time of these alerts, in milliseconds. */
export const START = MONDAY * 1000

/** An armed alert at a price of ten dollars, with recurrence `once` and without expiry. */
export const alertOf = (id: string, other: Partial<NewAlert> = {}): NewAlert => ({
  id,
  accountId: "acct",
  mint: mintOf(1),
  wallet: null,
  side: null,
  condition: { metric: "price_usd", operator: "crosses_above", threshold: "10", windowSeconds: null, source: "swap" },
  recurrence: "once",
  cooldownSeconds: null,
  expiresAtMs: null,
  note: null,
  armed: true,
  cleared: true,
  mark: 0,
  createdAtMs: START,
  ...other
})

/** An alert on each trade of the first wallet worth 500 dollars or more, without a cooldown. */
export const ofWallet = (id: string, other: Partial<NewAlert> = {}): NewAlert =>
  alertOf(id, {
    mint: null,
    wallet: walletOf(1),
    side: "either",
    condition: {
      metric: "wallet_trade_usd",
      operator: "at_least",
      threshold: "500",
      windowSeconds: null,
      source: "swap"
    },
    recurrence: "repeat",
    ...other
  })

/** The `n`th trade of that wallet: a buy of a thousand dollars at the start. */
export const tradeOf = (n: number, other: Partial<WalletTrade> = {}): WalletTrade => ({
  signature: `s${n}`,
  slot: 1000 + n,
  index: 7,
  mint: mintOf(1),
  wallet: walletOf(1),
  side: "buy",
  amount: 18_446_744_073_709_551_615n,
  usdNanos: 1_000_000_000_000n,
  lamports: 10_000_000_000n,
  observedAtMs: START,
  ...other
})
