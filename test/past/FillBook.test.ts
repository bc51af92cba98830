import { assert, describe, it, vi } from "@effect/vitest"
import { Address, SOL } from "../../src/domain/Address.ts"
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import type { BlockTransaction } from "../../src/chain/decoding/TradeBlock.ts"
import { Overlay, Stopped, swapIn } from "../../src/past/executeHops.ts"
import { FillBook, type FillOrder, MOST_OF_POOL, type SlotState } from "../../src/past/FillBook.ts"
import { readAddress, readU64, writeU64 } from "../../src/programs/layout/bytes.ts"
import { raydiumAmmV4 } from "../../src/programs/raydium/ammV4.ts"
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

const begin = (book: FillBook, slot: number, state: SlotState) => Array.from(book.slotBegins(slot, state))

const second = (changed: ReadonlyArray<OnChainAccount>) => {
  const book = new FillBook("a")
  book.add(order("one", 10))
  begin(book, 10, stateOf(10))
  book.blocksBefore(11)
  book.add(order("two", 12))
  begin(book, 12, stateOf(12, changed))
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
    begin(book, 15, stateOf(15))
    book.blocksBefore(16)
    assert.strictEqual(book.get("three")?.reason?.code, "pool_diverged")
  })
})

const recorded = (id: string, slot: number): FillOrder => ({
  ...order(id, slot),
  amount: 1_000_000n,
  model: "recorded"
})

const block = (legs: ReadonlyArray<unknown>) => ({
  slot: 10,
  transactions: [{ legs, nets: [] } as unknown as BlockTransaction]
})

describe("under the model recorded", () => {
  it("executes the earlier swaps of a pool once for a slot, and a quote only what is new", () => {
    const book = new FillBook("a")
    const executed = vi.spyOn(raydiumAmmV4, "after")
    const swapsIn = (run: () => unknown): number => {
      executed.mockClear()
      run()
      return executed.mock.calls.length
    }
    const half = MOST_OF_POOL / 2
    Array.from({ length: half }, (_, at) => book.add(recorded(`early ${at}`, 10)))
    // The second swap of a pool repeats the first one, and the others go on from there.
    assert.strictEqual(
      swapsIn(() => begin(book, 10, stateOf(10))),
      half + 1
    )
    const quote = () => book.quote(recorded("quote", 11), stateOf(11))
    assert.deepStrictEqual([swapsIn(quote), swapsIn(quote)], [half + 1, 1])
    Array.from({ length: half }, (_, at) => book.add(recorded(`late ${at}`, 12)))
    assert.strictEqual(
      swapsIn(() => begin(book, 12, stateOf(12))),
      half + half
    )
    executed.mockRestore()
    // The same swaps by hand, one after the other.
    const overlay = new Overlay(stateOf(12).accounts)
    const paid = book.all.map(() => swapIn(overlay, pool.address, { mint: SOL, amount: 1_000_000n }, stateOf(12).clock))
    const last = paid.at(-1)
    assert.strictEqual(book.all.at(-1)?.amountOut, last instanceof Stopped ? null : last?.amountOut)
  })

  it("executes the earlier swaps again when the pool was written within the slot", () => {
    const book = new FillBook("a")
    book.add(recorded("one", 10))
    begin(book, 10, stateOf(10))
    const amountAt = (state: SlotState) => {
      const hops = book.quote({ ...recorded("quote", 11), amount: 10n ** 10n }, state)
      return hops instanceof Stopped ? hops.detail : hops[0]?.amountOut
    }
    const before = amountAt(stateOf(11))
    const vault = withMore()
    const more = { ...vault, data: vault.data.slice() }
    writeU64(more.data, 64, readU64(more.data, 64) * 2n)
    assert.notStrictEqual(amountAt(stateOf(11, [more])), before)
    assert.strictEqual(amountAt(stateOf(11)), before)
  })

  it("takes a bounded number of swaps of a pool, and failed ones do not count", () => {
    const book = new FillBook("a")
    Array.from({ length: MOST_OF_POOL - 1 }, (_, at) => book.add(recorded(`${at}`, 10)))
    book.add({ ...recorded("dear", 10), minOut: 2n ** 63n })
    assert.strictEqual(book.fullPool(recorded("next", 11)), pool.address)
    begin(book, 10, stateOf(10))
    assert.isNull(book.fullPool(recorded("next", 11)))
    assert.isNull(book.fullPool(order("replayed", 11)))
  })

  it("counts the filled swaps of a wallet in a slot once and for all", () => {
    const book = new FillBook("a")
    book.add(recorded("one", 10))
    book.add({ ...recorded("dear", 10), minOut: 2n ** 63n })
    book.add(recorded("two", 10))
    book.add(recorded("three", 11))
    begin(book, 11, stateOf(11))
    assert.deepStrictEqual(
      book.all.map(({ rank }) => rank),
      [0, null, 1, 0]
    )
  })
})

it("a swap whose slot never comes is refused when the replay ends", () => {
  const book = new FillBook("a")
  book.add(order("one", 10))
  book.add(order("never", 99))
  begin(book, 10, stateOf(10))
  book.ended()
  const [one, never] = book.all
  assert.strictEqual(one?.status, "filled")
  assert.deepStrictEqual([never?.status, never?.reason?.code, never?.atMs], ["refused", "replay_ended", null])
})

it("a recorded transaction that is refused at its second pool changes no pool of the branch", () => {
  const pools = market.pools().filter(({ dex, mintB, open }) => dex === "raydium-amm-v4" && mintB === SOL && open())
  const other = pools.find(({ address }) => address !== pool.address) ?? assert.fail("the market has one such pool")
  const { accounts, clock } = stateOf(10)
  const paidFor = (address: Address, amount: bigint) => {
    const market = new Overlay(accounts)
    const paid = swapIn(market, address, { mint: SOL, amount }, clock)
    return paid instanceof Stopped ? 0n : paid.amountOut
  }
  // The least input that pays anything: after a purchase it pays nothing.
  let [none, least] = [0n, 1_000_000_000n]
  while (least - none > 1n) {
    const middle = (none + least) / 2n
    if (paidFor(other.address, middle) > 0n) {
      least = middle
    } else {
      none = middle
    }
  }
  const leg = (at: typeof pool, amount: bigint, index: number) => ({
    index,
    side: "buy",
    pool: at.address,
    quote: { mint: SOL, amount },
    token: { mint: at.mintA, amount: paidFor(at.address, amount) },
    transferFees: null
  })
  const hops = [leg(pool, 5_000_000_000n, 0), leg(other, least, 1)]
  const pays = (legs: ReadonlyArray<unknown>) => {
    const book = new FillBook("a")
    book.add(order("one", 10))
    book.add({ ...order("two", 10), outputMint: other.mintA, pools: [other.address], amount: 100_000_000_000_000n })
    begin(book, 10, stateOf(10))
    book.blocksBefore(10)
    book.block(block(legs) as never, stateOf(10))
    book.add(order("three", 12))
    const after = new Overlay(accounts)
    for (const { pool: address, quote } of legs as typeof hops) {
      swapIn(after, address, { mint: SOL, amount: quote.amount }, clock)
    }
    begin(book, 12, { ...stateOf(12), accounts: after.at })
    book.blocksBefore(13)
    assert.deepStrictEqual([book.get("two")?.status, book.get("three")?.reason], ["filled", null])
    return book.get("three")?.amountOut
  }
  assert.strictEqual(pays(hops), pays([]))
  assert.notStrictEqual(pays(hops.slice(0, 1)), pays([]))
})
