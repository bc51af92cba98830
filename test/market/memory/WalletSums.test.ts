import { assert, it } from "@effect/vitest"
import { WalletSums } from "../../../src/market/memory/WalletSums.ts"
import { BUYS } from "../../../src/market/memory/traderSums.ts"
import { walletOf } from "../tape/tape.ts"

const oneBuy = () => {
  const sums = new Float64Array(32)
  sums[BUYS] = 1
  return sums
}

it("sums of a wallet stay together when it gets another number meanwhile, and its number goes to another wallet", () => {
  const all = new WalletSums()
  all.add(7, () => walletOf(1), true, oneBuy(), 10)
  all.add(8, () => walletOf(2), true, oneBuy(), 10)
  all.add(9, () => walletOf(1), false, oneBuy(), 11)
  all.add(7, () => walletOf(3), false, oneBuy(), 11)
  all.add(9, () => walletOf(1), false, oneBuy(), 12)
  assert.deepStrictEqual(
    Array.from({ length: all.size }, (_, place) => [all.at(place)?.wallet, all.at(place)?.buys]),
    [
      [walletOf(1), 3],
      [walletOf(2), 1],
      [walletOf(3), 1]
    ]
  )
})
