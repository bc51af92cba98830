/** What an invented owner of alerts waits for. */
import type { AlertCondition, AlertRecurrence } from "../../domain/wallets/Alert.ts"
import type { Mint } from "../../domain/Address.ts"
import { fromAtomic } from "../../domain/decimal.ts"
import { coins } from "../chain/catalog.ts"
import { WELCOME } from "../venues/fundingWorld.ts"
import type { SimMint } from "../chain/SimPool.ts"

/** An alert that is still to be set. */
export interface SimAlert {
  readonly accountId: string
  readonly mint: Mint
  readonly condition: AlertCondition
  readonly recurrence: AlertRecurrence
  readonly note: string
}

const SCALE = 12

/** Three percent above where the coin began. */
const above = (priceUsd: number): string => fromAtomic(BigInt(Math.round(priceUsd * 1.03 * 10 ** SCALE)), SCALE)

/** Two alerts on the first coin of the catalogue: on its way up, and on falls within five minutes. */
export const alertsOf = (mints: ReadonlyArray<SimMint>): ReadonlyArray<SimAlert> => {
  const [coin] = coins
  const mint = mints.find(({ symbol }) => symbol === coin?.symbol)?.address
  if (coin === undefined || mint === undefined) {
    return []
  }
  return [
    {
      accountId: WELCOME,
      mint,
      condition: {
        metric: "price_usd",
        operator: "crosses_above",
        threshold: above(coin.priceUsd),
        windowSeconds: null
      },
      recurrence: "once",
      note: `${coin.symbol} breaks out`
    },
    {
      accountId: WELCOME,
      mint,
      condition: { metric: "change_pct", operator: "falls_by", threshold: "1", windowSeconds: 300 },
      recurrence: "repeat",
      note: `${coin.symbol} slips`
    }
  ]
}
