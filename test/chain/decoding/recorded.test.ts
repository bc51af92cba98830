/** Real transactions from outside the project, with what another project asserts or what the balances show. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { existsSync, readFileSync, globSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Address, SOL, USDC } from "../../../src/domain/Address.ts"
import { fromAtomic } from "../../../src/domain/decimal.ts"
import type { NetTrade, Quantity } from "../../../src/api/schemas/Trade.ts"
import { type DecodedTrades, decodeTrades } from "../../../src/chain/decoding/decodeTrades.ts"
import { USDT } from "../../../src/domain/stables.ts"
import { readTransaction, type Transaction } from "../../../src/chain/decoding/transaction.ts"

const folder = fileURLToPath(new URL("../../../../shared/data/transactions/", import.meta.url))
const isThere = existsSync(folder)
if (!isThere) {
  process.stderr.write(`Recorded transactions are not tested: there is no folder ${folder}.\n`)
}

interface Recording {
  readonly expected: {
    readonly wallet?: string
    readonly row?: Readonly<Record<string, string>>
    readonly solAmount?: string
    readonly tokenAmount?: string
    readonly tokenMint?: string
    readonly trader?: string
  } | null
  readonly transaction: unknown
}

const recording = (prefix: string): Recording => {
  const [path] = globSync(`${folder}${prefix}*.json`)
  return JSON.parse(readFileSync(path ?? "", "utf8"))
}

const read = (prefix: string): Transaction => Result.getOrThrow(readTransaction(recording(prefix).transaction))
const decode = (prefix: string): DecodedTrades => decodeTrades(read(prefix))

const RAY = "4k3Dyjzvzp8eMZWUXbBCjEvwSkkk59S5iCNLY3QrkX6R"
const NINE_GR = Address.make("9gr84rGyLvVasmqXvj65njjUgKyBemKWSJsvijTPmcQz")
const JUP = Address.make("JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN")
const KEEPER = "71WDyyCsZwyEYDV91Qrb212rdg6woCHYQhFnmZUBxiJ6"

const symbols: Readonly<Record<string, string>> = { SOL, USDC, RAY }

const uiOf = ({ mint, amount, decimals }: Quantity) => ({ mint, amount: fromAtomic(amount, decimals ?? 0) })

const sidesOf = ({ side, token, quote }: NetTrade) =>
  side === "buy" ? { gave: uiOf(quote), got: uiOf(token) } : { gave: uiOf(token), got: uiOf(quote) }

const mintOf = (symbol = "") => symbols[symbol] ?? symbol

const plain = (text = "") => (text.includes(".") ? text.replace(/\.?0+$/u, "") : text)

const legLine = ({ dex, side, token, quote }: DecodedTrades["legs"][number]) =>
  `${side} ${token.amount} ${token.mint} for ${quote.amount} ${quote.mint} on ${dex}`

describe.skipIf(!isThere)("recorded transactions (skipped without the folder shared/data/transactions)", () => {
  it.each(["staketax-3HxfY", "staketax-4NAC7", "staketax-4vug6", "staketax-5FBWf", "staketax-S3z6o"])(
    "%s gives the order's owner, and not the keeper, exactly what the other project asserts, once",
    (prefix) => {
      const { expected } = recording(prefix)
      const { nets, unresolved } = decode(prefix)
      assert.strictEqual(unresolved, 0)
      assert.strictEqual(nets.length, 1)
      const [net] = nets
      assert.isDefined(net)
      assert.strictEqual(net.wallet, expected?.wallet)
      const row = expected?.row ?? {}
      assert.deepStrictEqual(sidesOf(net), {
        gave: { mint: mintOf(row["sent_currency"]), amount: plain(row["sent_amount"]) },
        got: { mint: mintOf(row["received_currency"]), amount: plain(row["received_amount"]) }
      })
    }
  )

  it("staketax-2rY9k sells for what the pool paid, which is the asserted SOL plus 20000 lamports of network fee", () => {
    const { expected } = recording("staketax-2rY9k")
    const transaction = read("staketax-2rY9k")
    const { legs, nets } = decodeTrades(transaction)
    assert.deepStrictEqual(legs.map(legLine), [
      `sell 7287032271779 JB5TxxRchPN1kBt6oWNURAC5DAnz88SeX2BeQEamMQva for 45130273 ${SOL} on raydium-amm-v4`
    ])
    assert.strictEqual(legs[0]?.confirmed, true)
    assert.strictEqual(nets[0]?.wallet, expected?.wallet)
    const received = (nets[0]?.quote.amount ?? 0n) - transaction.feeLamports
    assert.strictEqual(fromAtomic(received, 9), expected?.row?.["received_amount"])
    assert.strictEqual(fromAtomic(nets[0]?.token.amount ?? 0n, 6), expected?.row?.["sent_amount"])
  })

  it("teepy-3tJcz sells for the amount of the curve's event, and the wallet gets 1 % less, as the fee recipient's balance shows", () => {
    const { expected } = recording("teepy-3tJcz")
    const transaction = read("teepy-3tJcz")
    const { legs, nets } = decodeTrades(transaction)
    assert.strictEqual(legs.length, 1)
    assert.strictEqual(legs[0]?.side, "sell")
    assert.strictEqual(legs[0]?.wallet, expected?.trader)
    assert.strictEqual(legs[0]?.token.mint, expected?.tokenMint)
    assert.strictEqual(String(legs[0]?.token.amount), expected?.tokenAmount)
    assert.strictEqual(String(legs[0]?.quote.amount), expected?.solAmount)
    assert.strictEqual(legs[0]?.confirmed, true)
    // 3556271 left the curve, and 35562 reached the fee recipient.
    assert.strictEqual(nets[0]?.quote.amount, 3_520_709n)
    // The wallet's own lamports agree: the proceeds less a tip of 3000000 and the network fee.
    const delta = (transaction.lamportsAfter[0] ?? 0n) - (transaction.lamportsBefore[0] ?? 0n)
    assert.strictEqual(3_520_709n - 3_000_000n - transaction.feeLamports, delta)
  })

  it("staketax-3Hxfy fills an order with two legs that the keeper swapped, USDC to SOL on DLMM and SOL to the token on Raydium", () => {
    const { legs, nets } = decode("staketax-3HxfY")
    assert.deepStrictEqual(legs.map(legLine), [
      `buy 9903412546 ${SOL} for 2000000000 ${USDC} on meteora-dlmm`,
      `buy 919927 ${NINE_GR} for 9903412546 ${SOL} on raydium-amm-v4`
    ])
    assert.deepStrictEqual(
      legs.map(({ confirmed }) => confirmed),
      [true, true]
    )
    assert.deepStrictEqual(nets[0]?.legs, [0, 1])
    assert.isTrue([...legs, ...nets].every(({ wallet }) => wallet !== KEEPER))
  })

  it("staketax-4vug6 has its first leg through an undecoded program, so its legs begin with USDT", () => {
    const { legs } = decode("staketax-4vug6")
    assert.deepStrictEqual(legs.map(legLine), [
      `buy 7582263839 ${SOL} for 1536598108 ${USDT} on meteora-dlmm`,
      `buy 685493 ${NINE_GR} for 7582263839 ${SOL} on raydium-amm-v4`
    ])
  })

  it("staketax-5FBWf goes from USDC over JUP and SOL to the token, through two Whirlpools and Raydium, each pool once", () => {
    const { legs, nets } = decode("staketax-5FBWf")
    assert.deepStrictEqual(legs.map(legLine), [
      `buy 136431176 ${JUP} for 182560735 ${USDC} on orca-whirlpool`,
      `sell 136431176 ${JUP} for 951099552 ${SOL} on orca-whirlpool`,
      `buy 84315 ${NINE_GR} for 951099552 ${SOL} on raydium-amm-v4`
    ])
    assert.strictEqual(nets[0]?.pool, null)
  })

  it("staketax-4NAC7 has one decoded leg of two, which is not the whole trade, so the net trade names no pool", () => {
    const { legs, nets } = decode("staketax-4NAC7")
    assert.deepStrictEqual(legs.map(legLine), [`buy 374004 ${NINE_GR} for 4366864428 ${SOL} on raydium-amm-v4`])
    assert.strictEqual(nets[0]?.pool, null)
    assert.deepStrictEqual(nets[0]?.legs, [0])
  })

  it.each(["staketax-4iZxo", "staketax-5iPvQ", "staketax-L6rJy"])(
    "%s opens or closes an order and trades nothing",
    (prefix) => {
      assert.deepStrictEqual(decode(prefix), { legs: [], nets: [], unresolved: 0 })
    }
  )

  it("agavesim-2cd7Q buys for the 0.3 SOL that the vault gained and the tokens that the other vault lost", () => {
    const { legs, nets } = decode("agavesim-2cd7Q")
    assert.deepStrictEqual(legs.map(legLine), [
      `buy 807769528641 7eR1yv7pUzhaqQneKJ2fmVTRuzY61ja5KwfbBrLsq1Gu for 300000000 ${SOL} on raydium-clmm`
    ])
    assert.strictEqual(legs[0]?.wallet, "98QXkwe6DThTsTq7tukKF4g9Wc6WnRbZyTBZ1iBupY39")
    assert.strictEqual(legs[0]?.pool, "EM4Fvu4G3qLuSNdBeturuHzqh871hh1evxY7RLBoF6ZL")
    assert.strictEqual(legs[0]?.confirmed, true)
    assert.strictEqual(nets[0]?.quote.amount, 300_000_000n)
  })

  it("agavesim-5bvyp sells with the instruction named buy, because the pool's base is SOL; the wallet also paid a fee of 233765840826", () => {
    const { legs, nets } = decode("agavesim-5bvyp")
    assert.deepStrictEqual(legs.map(legLine), [
      `sell 468700510855632 EWV6bjhKF5zkXANCdWPvDs7dofRVk4pKyVTitqgEWj8E for 201692493 ${SOL} on pumpswap`
    ])
    assert.strictEqual(legs[0]?.confirmed, true)
    assert.strictEqual(nets[0]?.token.amount, 468_700_510_855_632n + 233_765_840_826n)
    assert.strictEqual(nets[0]?.wallet, "95rVs91daKmzom4SM41dg4MRmy5M7rMEHPerenZwWaCq")
  })

  it("chainstack-2m5nW buys for 3.517192 USDC, by the balances of a wallet that neither signed nor paid the fee", () => {
    const { legs, nets } = decode("chainstack-2m5nW")
    assert.deepStrictEqual(legs.map(legLine), [
      `buy 445377137871 4F4gGVBAWuKi3EpmYdhntXvCVFqZZqmrb1cqNGawpump for 3517192 ${USDC} on pump-fun-curve`
    ])
    assert.strictEqual(legs[0]?.wallet, "BwWK17cbHxwWBKZkUYvzxLcNQ1YVyaFezduWbtm2de6s")
    assert.strictEqual(legs[0]?.confirmed, true)
    assert.strictEqual(nets.length, 1)
    assert.strictEqual(nets[0]?.quote.amount, 3_517_192n)
  })

  it("staketax-S3z6o has one decoded leg, between two tokens that are neither SOL nor dollars", () => {
    const { legs } = decode("staketax-S3z6o")
    assert.deepStrictEqual(legs.map(legLine), [
      `buy 4063408 ${RAY} for 32917565 mSoLzYCxHdYgdzU16g5QSh3i5K3z3KZK7ytfqcJm7So on raydium-amm-v4`
    ])
  })
})
