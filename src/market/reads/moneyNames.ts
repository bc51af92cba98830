/** Names under which SOL and dollars are known, whatever their accounts say: wrapped SOL is not called Solana there. */
import { type Mint, SOL } from "../../domain/Address.ts"
import { DOLLARS } from "../../domain/stables.ts"

const OF_DOLLARS = [
  ["USDC", "USD Coin"],
  ["USDT", "Tether", "Tether USD"],
  ["USD1", "World Liberty Financial USD"],
  ["PYUSD", "PayPal USD"]
] as const

const NAMES: ReadonlyMap<Mint, ReadonlyArray<string>> = new Map<Mint, ReadonlyArray<string>>([
  [SOL, ["SOL", "Solana", "Wrapped SOL"]],
  ...DOLLARS.map((mint, place) => [mint, OF_DOLLARS[place] ?? []] as const)
])

/** Further names of a mint; none unless it is SOL or a dollar. */
export const moneyNames = (mint: Mint): ReadonlyArray<string> => NAMES.get(mint) ?? []
