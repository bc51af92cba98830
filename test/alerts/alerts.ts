/** Alerts for tests. */
import type { NewAlert } from "../../src/domain/wallets/Alert.ts"
import { mintOf, MONDAY } from "../market/tape/tape.ts"

/** Start time of these alerts, in milliseconds. */
export const START = MONDAY * 1000

/** An armed alert on a price of ten dollars, once, without an end. */
export const alertOf = (id: string, other: Partial<NewAlert> = {}): NewAlert => ({
  id,
  accountId: "acct",
  mint: mintOf(1),
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
