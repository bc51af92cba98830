/** Demo alerts for the account that owns the first keys. */
import { Clock, Effect } from "effect"
import { AlertStore } from "../../alerts/AlertStore.ts"
import { cooldownOf } from "../../alerts/changeAlert.ts"
import { begin, triggerOf } from "../../alerts/evaluate.ts"
import type { NewAlert } from "../../api/schemas/Alert.ts"
import { fromAtomic } from "../../domain/decimal.ts"
import { coins } from "../pools/catalog.ts"
import { WELCOME } from "../venues/fundingWorld.ts"
import type { SimMint } from "../chain/SimPool.ts"
import { patiently } from "./patience.ts"

/** A demo alert before it is created. */
type SimAlert = Pick<NewAlert, "mint" | "condition" | "recurrence" | "note">

const SCALE = 12

/** Three percent above the coin's initial price. */
const above = (priceUsd: number): string => fromAtomic(BigInt(Math.round(priceUsd * 1.03 * 10 ** SCALE)), SCALE)

/**
 * Two alerts on the first coin of the catalogue: one when it rises above a price, one when it falls within five
 * minutes.
 */
export const alertsOf = (mints: ReadonlyArray<SimMint>): ReadonlyArray<SimAlert> => {
  const [coin] = coins
  const mint = mints.find(({ symbol }) => symbol === coin?.symbol)?.address
  if (coin === undefined || mint === undefined) {
    return []
  }
  return [
    {
      mint,
      condition: {
        metric: "price_usd",
        operator: "crosses_above",
        threshold: above(coin.priceUsd),
        windowSeconds: null,
        source: "swap"
      },
      recurrence: "once",
      note: `${coin.symbol} breaks out`
    },
    {
      mint,
      condition: { metric: "change_pct", operator: "falls_by", threshold: "1", windowSeconds: 300, source: "swap" },
      recurrence: "repeat",
      note: `${coin.symbol} slips`
    }
  ]
}

const FIRST = { status: null, mint: null, limit: 1, after: null }

/**
 * Creates the alerts, unless the account already has some. Each alert is created once, even if the store fails after
 * writing it.
 */
export const seedAlerts = Effect.fnUntraced(function* (alerts: ReadonlyArray<SimAlert>) {
  const store = yield* AlertStore
  const createdAtMs = yield* Clock.currentTimeMillis
  const { rows } = yield* patiently(store.page(WELCOME, FIRST))
  for (const alert of rows.length > 0 ? [] : alerts) {
    const id = `al_${crypto.randomUUID().replaceAll("-", "")}`
    const create = store.create({
      ...alert,
      ...begin(triggerOf(alert.condition), null, 0),
      id,
      wallet: null,
      side: null,
      accountId: WELCOME,
      cooldownSeconds: cooldownOf(alert.condition, alert.recurrence),
      expiresAtMs: null,
      createdAtMs
    })
    yield* patiently(Effect.flatMap(store.find(WELCOME, id), (found) => (found === null ? create : Effect.void)))
  }
})
