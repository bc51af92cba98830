import { assert, describe, it } from "@effect/vitest"
import { Address, SOL } from "../../src/domain/Address.ts"
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import { FillBook, type FillOrder } from "../../src/past/FillBook.ts"
import { readAddress, readU64, writeU64 } from "../../src/programs/layout/bytes.ts"
import { ammV4Offsets } from "../../src/programs/raydium/ammV4Layout.ts"
import { newMarket } from "../simulator/chain/chains.ts"

const { bank, market } = newMarket("fill book")
market.advance()
const pool =
  market.pools().find(({ dex, mintB, open }) => dex === "raydium-amm-v4" && mintB === SOL && open()) ??
  assert.fail("the market has no such pool")

const stateOf = (slot: number, changed: ReadonlyArray<OnChainAccount> = []) => ({
  accounts: (address: Address) => changed.find((each) => each.address === address) ?? bank.get(address),
  clock: { ...bank.clock(), slot }
})

const order = (id: string, slot: number): FillOrder => ({
  id,
  wallet: Address.make("7YttLkHDoNj9wyDur5pM1ejNaAvT9X4eqaYcHQqtj2G5"),
  inputMint: SOL,
  outputMint: pool.mintA,
  amount: 1_000_000_000n,
  pools: [pool.address],
  minOut: 1n,
  quotedOut: 1n,
  model: "replayed",
  postedSlot: slot - 1,
  slot
})

/** The pool with more SOL in it than its swaps explain. */
const withMore = (): OnChainAccount => {
  const vault = bank.must(readAddress(bank.must(pool.address).data, ammV4Offsets.pcVault))
  const data = vault.data.slice()
  writeU64(data, 64, readU64(data, 64) + 1_000_000n)
  return { ...vault, data }
}

const second = (changed: ReadonlyArray<OnChainAccount>) => {
  const book = new FillBook("a")
  book.add(order("one", 10))
  book.slotBegins(10, stateOf(10))
  book.blocksBefore(11)
  book.add(order("two", 12))
  book.slotBegins(12, stateOf(12, changed))
  book.blocksBefore(13)
  return book
}

describe("a pool that a swap changed", () => {
  it("takes a second swap while only swaps change it", () => {
    const [one, two] = second([]).all
    assert.deepStrictEqual([one?.status, two?.status], ["filled", "filled"])
    assert.isBelow(Number(two?.amountOut), Number(one?.amountOut))
  })

  it("takes no swap any more once something else has changed it", () => {
    const [one, two] = second([withMore()]).all
    assert.deepStrictEqual([one?.status, two?.status, two?.reason?.code], ["filled", "refused", "pool_diverged"])
    assert.isNull(two?.amountOut)
  })

  it("takes no swap any more once blocks are missing", () => {
    const book = second([])
    book.gap(14)
    book.add(order("three", 15))
    book.slotBegins(15, stateOf(15))
    book.blocksBefore(16)
    assert.strictEqual(book.get("three")?.reason?.code, "pool_diverged")
  })
})
