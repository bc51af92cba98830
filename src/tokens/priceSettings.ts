/** Settings of prices. */
import { rangeSetting } from "../domain/countSetting.ts"
import { Config } from "effect"
import { Address, type Mint } from "../domain/Address.ts"
import { DOLLARS } from "../domain/stables.ts"

/** JitoSOL, mSOL, bSOL, jupSOL and JLP: mints that others are often traded against. */
const HUBS: ReadonlyArray<Mint> = [
  Address.make("J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn"),
  Address.make("mSoLzYCxHdYgdzU16g5QSh3i5K3z3KZK7ytfqcJm7So"),
  Address.make("bSo13r4TkiE4KumL71LsHTPpL2euBYLFx6h9HP3piy1"),
  Address.make("jupSoLaHXQiZZTSfEWMTRRgpnyFm8f6sZdosWBjx93v"),
  Address.make("27G8MtK7VtTcCHkpASjSDdkWWYfoqT6ggEuKidVJidD4")
]

/** `STABLE_MINTS` (USDC, USDT, USD1, PYUSD), `STABLE_TOLERANCE_BPS` (100) and `PRICE_HUBS` (staked SOL and JLP). */
export const settings = Config.all({
  stables: Config.Array(Address, "STABLE_MINTS").pipe(Config.withDefault(DOLLARS)),
  toleranceBps: rangeSetting("STABLE_TOLERANCE_BPS", 100, { minimum: 0, maximum: 10_000 }),
  hubs: Config.Array(Address, "PRICE_HUBS").pipe(Config.withDefault(HUBS))
})
