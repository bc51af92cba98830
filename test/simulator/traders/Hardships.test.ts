import { assert, describe, it } from "@effect/vitest"
import { TOKEN_2022_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"
import { isUnpriceable } from "../../../src/programs/interface/Program.ts"
import { type Address, type Mint, SOL } from "../../../src/domain/Address.ts"
import { USDT } from "../../../src/domain/stables.ts"
import { readMintAccount } from "../../../src/tokens/mintAccount.ts"
import { digestOf } from "../../../src/simulator/chain/Bank.ts"
import type { RecordedSwap, Transaction } from "../../../src/simulator/chain/Ledger.ts"
import { balanceOf, supplyOf } from "../../../src/simulator/chain/tokens.ts"
import { makeMarket } from "../../../src/simulator/traders/Market.ts"
import { livePast, slotsOf } from "../../../src/simulator/traders/past.ts"
import { decode, discrepancies, newBank, totalLamports } from "../chain/chains.ts"

const HOURS = 8

const begin = (seed: string) => {
  const bank = newBank(seed)
  return { bank, market: makeMarket({ seed, bank, swapsPerSecond: 0.2, hardships: true }) }
}

const sum = (amounts: ReadonlyArray<bigint>) => amounts.reduce((total, amount) => total + amount, 0n)

/** The mint that a swap trades against SOL, with its price in lamports; null for other swaps. */
const printOf = ({ amountIn, amountOut, inputMint, outputMint }: RecordedSwap) =>
  inputMint === SOL
    ? { mint: outputMint, price: Number(amountIn) / Number(amountOut) }
    : outputMint === SOL
      ? { mint: inputMint, price: Number(amountOut) / Number(amountIn) }
      : null

describe("eight hours of a market with hardships", () => {
  const { bank, market } = begin("hardships")
  const catalogue = new Set(market.mints().map(({ address }) => address))
  const lamports = totalLamports(bank)
  const supplies = new Map(Array.from(catalogue, (mint) => [mint, supplyOf(bank.must(mint))]))
  const blocks = Array.from(
    livePast(bank, market, bank.newest().slot + slotsOf(HOURS)),
    ({ transactions }) => transactions
  )
  const all = blocks.flat()
  const kindsOf = (kind: Transaction["kind"]) => all.filter((transaction) => transaction.kind === kind)
  const named = (symbol: string): Mint =>
    market.mints().find((mint) => mint.symbol === symbol)?.address ?? assert.fail(`no ${symbol}`)

  it("neither creates nor loses money, and each transaction says where its lamports went", () => {
    assert.strictEqual(totalLamports(bank), lamports)
    for (const [mint, difference] of discrepancies(bank)) {
      assert.strictEqual(difference, 0n, mint)
    }
    for (const { fee, kind, receipt } of all) {
      assert.strictEqual(sum(receipt.lamports.before), sum(receipt.lamports.after) + fee, kind)
    }
  })

  it("lets a third or more of its transactions fail, in bursts", () => {
    const share = kindsOf("failed").length / all.length
    assert.isTrue(share > 0.25 && share < 0.55, String(share))
    const failures = blocks.map((block) => block.filter(({ kind }) => kind === "failed").length)
    assert.isAbove(Math.max(...failures), 20)
    assert.isAbove(failures.filter((count) => count === 0).length, failures.length / 3)
    assert.isTrue(kindsOf("failed").every(({ receipt, swaps }) => receipt.error !== null && swaps.length === 0))
  })

  it("has launches that lose nearly everything, and many that lose half", () => {
    const [peaks, falls] = [new Map<Mint, number>(), new Map<Mint, number>()]
    for (const print of all.flatMap(({ swaps }) => swaps.map(printOf))) {
      if (print !== null && !catalogue.has(print.mint)) {
        const peak = Math.max(peaks.get(print.mint) ?? 0, print.price)
        peaks.set(print.mint, peak)
        falls.set(print.mint, Math.max(falls.get(print.mint) ?? 0, 1 - print.price / peak))
      }
    }
    const sorted = Array.from(falls.values()).toSorted((a, b) => b - a)
    assert.isAbove(sorted[0] ?? 0, 0.98)
    assert.isAbove(sorted.filter((fall) => fall > 0.5).length, falls.size / 5)
  })

  it("has liquidity pulled within a block, and coins that are dead afterwards", () => {
    const traps = market.pools().filter(({ liquidity }) => liquidity !== undefined)
    const gone = traps.filter((pool) => {
      const [a, b] = [pool.depth().a, pool.depth().b]
      return (pool.mintA === SOL ? a : b) < 5e9
    })
    assert.isAbove(gone.length, 8)
    for (const { liquidity, mintA, mintB } of gone) {
      const exit = kindsOf("liquidity").findLast(({ wallet }) => wallet === liquidity?.provider)
      assert.isDefined(exit)
      const mint = mintA === SOL ? mintB : mintA
      const pulledAt = kindsOf("liquidity").findLast(({ receipt }) => receipt.message.keys.includes(mint))?.slot ?? 0
      const later = all.filter(
        ({ slot, swaps }) => slot > pulledAt && swaps.some((swap) => printOf(swap)?.mint === mint)
      )
      assert.lengthOf(later, 0)
    }
  })

  it("adds and removes liquidity of lasting pools", () => {
    const moves = kindsOf("liquidity").map(({ receipt }) =>
      receipt.calls.flatMap(({ steps }) => steps.filter((step) => typeof step === "string")).join()
    )
    assert.isAbove(moves.filter((log) => log.includes("Deposit")).length, 3)
    assert.isAbove(moves.filter((log) => log.includes("Withdraw")).length, 10)
  })

  it("has sandwiches: one wallet trades right before and right after a purchase", () => {
    const around = blocks.flatMap((block) =>
      block.filter(({ swaps: [bought], wallet }, index) => {
        const [victim, after] = [block[index + 1], block[index + 2]]
        return (
          bought?.inputMint === SOL &&
          victim?.swaps[0]?.pool === bought.pool &&
          victim.wallet !== wallet &&
          after?.wallet === wallet &&
          after.swaps[0]?.amountIn === bought.amountOut
        )
      })
    )
    assert.isAbove(around.length, 15)
  })

  it("has a coin whose volume is made by two wallets", () => {
    const washed = named("GUSHER")
    const byWallet = new Map<Address, number>()
    for (const { swaps, wallet } of all) {
      for (const { amountIn, amountOut, inputMint, outputMint } of swaps) {
        const lamports = inputMint === SOL ? amountIn : amountOut
        if (inputMint === washed || outputMint === washed) {
          byWallet.set(wallet, (byWallet.get(wallet) ?? 0) + Number(lamports))
        }
      }
    }
    const volumes = Array.from(byWallet.values()).toSorted((a, b) => b - a)
    const [first = 0, second = 0] = volumes
    assert.isAbove((first + second) / volumes.reduce((total, volume) => total + volume, 0), 0.5)
    assert.isAbove(volumes.length, 10)
  })

  it("freezes an account, whose sales then fail, and takes tokens as a permanent delegate", () => {
    const steps = kindsOf("authority").flatMap(({ receipt }) =>
      receipt.calls.flatMap((call) => call.steps.filter((step) => typeof step === "string"))
    )
    for (const name of ["FreezeAccount", "ThawAccount", "TransferChecked"]) {
      assert.include(steps.join(), name)
    }
    assert.isNotEmpty(kindsOf("failed").filter(({ receipt }) => receipt.error?.code === 17))
  })

  it("burns supply, and sends coins to many wallets at once", () => {
    const shrunk = Array.from(supplies).filter(([mint, supply]) => supplyOf(bank.must(mint)) < supply)
    assert.isAbove(shrunk.length, 5)
    const receivers = kindsOf("transfer").map(
      ({ receipt }) => new Set(receipt.tokens.after.map(({ owner }) => owner)).size
    )
    assert.isAtLeast(Math.max(...receivers), 6)
  })

  it("has decimals from 0 to 12, look-alikes, USDT, and mints with each power of an issuer", () => {
    const mints = market.mints()
    assert.includeMembers(
      Array.from(new Set(mints.map(({ decimals }) => decimals))),
      Array.from({ length: 13 }, (_, n) => n)
    )
    assert.includeMembers(
      mints.map(({ symbol }) => symbol),
      ["\u039cUFFI\u039d", "VVALRUS", "rnUFFIN"]
    )
    assert.isNotEmpty(all.filter(({ swaps }) => swaps.some(({ inputMint }) => inputMint === USDT)))
    const factsOf = (symbol: string) => {
      const facts = readMintAccount(bank.must(named(symbol)))
      return facts._tag === "Mint" ? facts : assert.fail(symbol)
    }
    assert.isNotNull(factsOf("CUSTODY").freezeAuthority)
    assert.deepStrictEqual(factsOf("LEASH").extensions, ["permanent_delegate"])
    assert.deepStrictEqual(factsOf("SNARE").extensions, ["transfer_hook"])
    assert.strictEqual(factsOf("SNARE").metadata?.symbol, "SNARE")
    const held = Array.from(bank.ownedBy(TOKEN_2022_PROGRAM)).filter(({ data }) => data[165] === 2)
    assert.isNotEmpty(held.filter((account) => balanceOf(account) > 0n))
  })

  it("has prices that the engine gives, but for the coin with a hook", () => {
    for (const pool of market.pools().filter(({ mintA, mintB }) => [mintA, mintB].includes(named("SNARE")))) {
      const read = decode(bank, pool)
      assert.include(isUnpriceable(read) ? read.detail : "priced", "has a transfer hook")
    }
  })
})

describe("a market with hardships", () => {
  it("is the same for the same seed, dropped blocks included", () => {
    const digests = [1, 2].map(() => {
      const { bank, market } = begin("twice")
      for (let slot = 0; slot < 60; slot++) {
        bank.skip(40)
        market.advance()
        market.fork()
      }
      return digestOf(bank)
    })
    assert.strictEqual(digests[0], digests[1])
  })

  it("is as before after a dropped block, and the next block builds on the one before", () => {
    const { bank, market } = begin("forked")
    market.advance()
    const [before, tip] = [digestOf(bank), bank.newest()]
    const dropped = market.fork() ?? assert.fail("no fork")
    assert.isNotEmpty(dropped.transactions.filter(({ swaps }) => swaps.length > 0))
    assert.strictEqual(digestOf(bank), before)
    assert.isUndefined(bank.block(dropped.slot))
    assert.isUndefined(bank.ledger.find(dropped.transactions[0]?.signature ?? ""))
    const next = market.advance()
    assert.deepStrictEqual([next.slot, next.parent, next.height], [dropped.slot + 1, tip.slot, tip.height + 1])
    assert.deepStrictEqual([dropped.slot, dropped.parent], [tip.slot + 1, tip.slot])
  })
})
