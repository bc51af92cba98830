/** The swap instructions, read back by the decoders of the same programs, and swaps that move lamports. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type Address, addressToBytes, type Mint, SOL } from "../../../src/domain/Address.ts"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import { programs, swapDecoderOf } from "../../../src/programs/registry.ts"
import { plainMint, TOKEN_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"
import { AMM_V4_SIZE, ammV4Offsets } from "../../../src/programs/raydium/ammV4Layout.ts"
import {
  CLMM_POOL_DISCRIMINATOR,
  CLMM_POOL_SIZE,
  clmmArrayAddress,
  clmmPoolOffsets
} from "../../../src/programs/raydium/clmmLayout.ts"
import { CURVE_DISCRIMINATOR, CURVE_LENGTH, curveAt, curveOf } from "../../../src/programs/pump/curve.ts"
import { GLOBAL_DISCRIMINATOR, globalAt, globalOf } from "../../../src/programs/pump/curveFees.ts"
import { feeConfigOf, PUMP_PROGRAM } from "../../../src/programs/pump/fees.ts"
import {
  globalConfigOf,
  PUMP_SWAP_CONFIG_DISCRIMINATOR,
  pumpSwapConfigAt,
  pumpSwapPoolAt
} from "../../../src/programs/pump/pumpSwap.ts"
import { ANCHOR_POOL } from "../../../src/programs/layout/anchor.ts"
import { derive } from "../../../src/quotes/execution/decodeFixture.ts"
import { type Field, discriminator, makeAccount } from "../../../src/quotes/execution/makeAccount.ts"
import { parseFixture } from "../../../src/quotes/execution/poolFixture.ts"
import { obstacle, provePool, seededRandom } from "../../../src/quotes/execution/provePool.ts"
import { type PoolSnapshot, siteOf } from "../../../src/quotes/execution/poolSnapshot.ts"
import type { Runtime } from "../../../src/quotes/execution/programRuntime.ts"
import { balanceIn, TRADER, traderAccount } from "../../../src/quotes/execution/traderAccounts.ts"
import { venues } from "../../../src/quotes/execution/swapVenues.ts"
import type { Venue } from "../../../src/quotes/execution/swapVenue.ts"
import { readU64 } from "../../../src/programs/layout/bytes.ts"
import { isUnpriceable } from "../../../src/programs/interface/Program.ts"
import { fillIn } from "../../../scripts/prove/fillIn.ts"
import { feeConfig } from "../../programs/pump/pumpAccounts.ts"
import { at } from "../../programs/stateAccounts.ts"

const venueOf = (dex: string): Venue => venues.find(({ program }) => program.dex === dex) ?? assert.fail(dex)

const keyAt = (offset: number, address: Address): Field => [offset, addressToBytes(address)]

const recorded = (file: string) =>
  parseFixture(JSON.parse(readFileSync(fileURLToPath(new URL(`../../vectors/pools/${file}`, import.meta.url)), "utf8")))

const COIN: Mint = at(2)
const clock = { slot: 450_000_000, epoch: 1041, unixTimestamp: 1_790_000_000 }

const snapshotOf = (dex: string, pool: OnChainAccount, others: ReadonlyArray<OnChainAccount>): PoolSnapshot =>
  fillIn(venueOf(dex), pool, {
    ...parseFixture({}),
    accounts: new Map([pool, ...others].map((account) => [account.address, account])),
    clockOf: () => clock
  })

const { programId: ammV4 } = venueOf("raydium-amm-v4").program
const ammV4Pool = makeAccount(at(1), ammV4, AMM_V4_SIZE, [
  keyAt(ammV4Offsets.coinMint, COIN),
  keyAt(ammV4Offsets.pcMint, SOL),
  keyAt(ammV4Offsets.coinVault, at(3)),
  keyAt(ammV4Offsets.pcVault, at(4))
])

const { programId: clmm } = venueOf("raydium-clmm").program
const clmmPool = makeAccount(at(1), clmm, CLMM_POOL_SIZE, [
  [0, discriminator(CLMM_POOL_DISCRIMINATOR)],
  keyAt(clmmPoolOffsets.mint0, COIN),
  keyAt(clmmPoolOffsets.mint1, SOL),
  keyAt(clmmPoolOffsets.vault0, at(3)),
  keyAt(clmmPoolOffsets.vault1, at(4)),
  [clmmPoolOffsets.tickSpacing, 10n, 2],
  // The array that begins at tick zero has liquidity.
  [clmmPoolOffsets.arrayBitmap + 64, 1n, 1]
])
const clmmArray = makeAccount(clmmArrayAddress(derive, clmmPool.address, 0), clmm, 0, [])

const { programId: pumpSwap } = venueOf("pumpswap").program
const [buyback, otherBuyback] = [at(8), at(9)]
const pumpSwapPool = makeAccount(at(1), pumpSwap, 300, [
  [0, discriminator(ANCHOR_POOL)],
  keyAt(pumpSwapPoolAt.baseMint, COIN),
  keyAt(pumpSwapPoolAt.quoteMint, SOL),
  keyAt(pumpSwapPoolAt.baseVault, at(3)),
  keyAt(pumpSwapPoolAt.quoteVault, at(4))
])
const pumpSwapGlobal = makeAccount(globalConfigOf(derive), pumpSwap, 949, [
  [0, discriminator(PUMP_SWAP_CONFIG_DISCRIMINATOR)],
  keyAt(pumpSwapConfigAt.buybackWallets, buyback),
  keyAt(pumpSwapConfigAt.buybackWallets + 32, otherBuyback)
])

const curve = (change: ReadonlyArray<Field> = []) =>
  makeAccount(curveOf(COIN, derive), PUMP_PROGRAM, CURVE_LENGTH, [
    [0, discriminator(CURVE_DISCRIMINATOR)],
    [curveAt.virtualTokens, 1_000_000_000_000_000n],
    [curveAt.virtualQuote, 35_000_000_000n],
    [curveAt.realTokens, 700_000_000_000_000n],
    [curveAt.realQuote, 5_000_000_000n],
    [curveAt.supply, 1_000_000_000_000_000n],
    ...change
  ])
const curveGlobal = makeAccount(globalOf(derive), PUMP_PROGRAM, 1087, [
  [0, discriminator(GLOBAL_DISCRIMINATOR)],
  keyAt(globalAt.buybackWallets, buyback)
])
const curveFees = feeConfig(feeConfigOf(PUMP_PROGRAM, derive), { flat: [0n, 95n, 30n], tiers: [[0n, 0n, 95n, 30n]] })
const curveSnapshot = (change: ReadonlyArray<Field> = []) =>
  snapshotOf("pump-fun-curve", curve(change), [plainMint(COIN), plainMint(SOL), curveGlobal, curveFees])

const fromFile = (dex: string, file: string): readonly [string, PoolSnapshot] => {
  const fixture = recorded(file)
  const venue = venueOf(dex)
  const pool = [...fixture.accounts.values()].find((account) => venue.program.isPool(account)) ?? assert.fail(file)
  return [dex, fillIn(venue, pool, fixture)]
}

const scenes: ReadonlyArray<readonly [string, PoolSnapshot]> = [
  ["raydium-amm-v4", snapshotOf("raydium-amm-v4", ammV4Pool, [])],
  fromFile("raydium-cpmm", "cpmm-41-10.json"),
  ["pumpswap", snapshotOf("pumpswap", pumpSwapPool, [pumpSwapGlobal])],
  ["pump-fun-curve", curveSnapshot()],
  ["raydium-clmm", snapshotOf("raydium-clmm", clmmPool, [clmmArray])],
  fromFile("orca-whirlpool", "whirlpool-static-101-5.json"),
  fromFile("meteora-dlmm", "dlmm-21-30-ft11.json"),
  fromFile("meteora-damm-v2", "dammv2-521-1-m22.json"),
  fromFile("meteora-dbc", "dbc-31-40-m10.json")
]

describe("the swap instructions", () => {
  it("exist for every quoted program", () => {
    assert.deepStrictEqual(
      venues.map(({ program }) => program.dex),
      programs.map(({ dex }) => dex)
    )
  })

  it.each(scenes)("of %s name the pool and its vaults where the decoder finds them", (dex, snapshot) => {
    const venue = venueOf(dex)
    const site = siteOf(snapshot)
    const sides = venue.sides(site) ?? assert.fail("no sides")
    for (const aToB of [true, false]) {
      const order = { aToB, amount: 5n, exactOut: false, trader: TRADER, from: at(20), to: at(21) }
      const { accounts, data } = venue.swap(site, order) ?? assert.fail("no instruction")
      const addresses = accounts.map(({ address }) => address)
      const [hop, ...others] = swapDecoderOf.get(venue.program.programId)?.hops(data, addresses) ?? []
      assert.deepStrictEqual(others, [])
      assert.strictEqual(hop?.pool, snapshot.pool.address)
      assert.sameMembers([...(hop?.vaults ?? [])], [sides.vaultA, sides.vaultB])
      const isSigned = accounts.find(({ address }) => address === TRADER)?.signer
      assert.isTrue(isSigned)
    }
  })

  it.each(scenes)("of %s can be executed once a recording is filled in", (dex, snapshot) => {
    // The addresses of recorded Whirlpools are random, so the program could not sign for their vaults.
    const expected = dex === "orca-whirlpool" ? "its address is not derived from its program" : null
    assert.strictEqual(obstacle(venueOf(dex), snapshot), expected)
  })

  it("pay the buyback's first wallet on the curve, and its token account in a pool", () => {
    const site = siteOf(curveSnapshot())
    assert.deepStrictEqual(venueOf("pump-fun-curve").swapNeeds(site), [buyback])
    const [needed] = venueOf("pumpswap").swapNeeds(siteOf(snapshotOf("pumpswap", pumpSwapPool, [pumpSwapGlobal])))
    const mint = plainMint(SOL)
    assert.notStrictEqual(needed, buyback)
    assert.notStrictEqual(needed, traderAccount(derive, mint, 0n).address)
  })

  it("are refused for a cashback coin, which they do not trade", () => {
    assert.include(obstacle(venueOf("pump-fun-curve"), curveSnapshot([[curveAt.cashback, 1n, 1]])) ?? "", "cashback")
  })
})

/** The curve's program: moves lamports and tokens as quoted, and opens the trader's counter with its lamports. */
const curveProgram = (snapshot: PoolSnapshot, extra = 0n): Runtime => {
  const set = new Map<string, OnChainAccount>()
  const priced = venueOf("pump-fun-curve").program.decode(
    snapshot.pool,
    (address) => snapshot.accounts.get(address) ?? null,
    derive,
    COIN
  )
  const RENT = 1_844_400n
  const withTokens = (address: Address, change: bigint) => {
    const data = (set.get(address)?.data ?? new Uint8Array(165)).slice()
    new DataView(data.buffer).setBigUint64(64, balanceIn(data) + change, true)
    return { data, lamports: 1n, owner: TOKEN_PROGRAM }
  }
  return {
    deploy: () => undefined,
    setClock: () => undefined,
    setAccount: (account) => void set.set(account.address, account),
    simulate: (payer, calls) => {
      const { accounts, data } = calls[0] ?? assert.fail("no call")
      assert.notStrictEqual(payer, TRADER)
      const [tokens, counter] = [accounts[9]?.address ?? TRADER, accounts[11]?.address ?? TRADER]
      const held = set.get(tokens)
      const sells = held !== undefined && balanceIn(held.data) > 0n
      const amount = readU64(data, 8)
      const pool = isUnpriceable(priced) ? assert.fail(priced.detail) : priced
      const exactOut = data.length === 24 && !sells
      const swap = exactOut ? pool.swapExactOut?.(false, amount, clock) : pool.swap(sells, amount, clock)
      if (swap === undefined || swap.ending !== "filled") {
        return { error: "NotEnoughTokensToBuy", logs: [], units: 0 }
      }
      const lamports = (set.get(TRADER)?.lamports ?? 0n) + (sells ? swap.amountOut : -swap.amountIn - extra) - RENT
      return {
        units: 0,
        after: (address) =>
          address === TRADER
            ? { data: new Uint8Array(0), lamports, owner: TOKEN_PROGRAM }
            : address === counter
              ? { data: new Uint8Array(137), lamports: RENT, owner: PUMP_PROGRAM }
              : address === tokens
                ? withTokens(tokens, sells ? -swap.amountIn : swap.amountOut)
                : undefined
      }
    }
  }
}

const prove = (extra: bigint) => {
  const snapshot = curveSnapshot()
  const options = { count: 48, random: seededRandom(5) }
  return provePool(curveProgram(snapshot, extra), venueOf("pump-fun-curve"), snapshot, options)
}

describe("a proof of the curve", () => {
  it("compares the lamports that the trader paid and got, without the ones that opened an account", () => {
    const { tally } = prove(0n)
    assert.isAbove(tally.exact, 12)
    assert.deepInclude(tally, { exact: tally.cases, wrong: 0, errorsWrong: 0 })
  })

  it("finds one lamport too much", () => {
    const { tally, wrong } = prove(1n)
    assert.isAbove(tally.wrong, 0)
    assert.isNotNull(wrong)
  })

  it("goes on from the state that a swap left, at a later time", () => {
    const { next } = prove(0n)
    assert.strictEqual(next?.pool.address, curve().address)
    assert.isAtLeast(next?.clock.unixTimestamp ?? 0, clock.unixTimestamp)
  })
})
