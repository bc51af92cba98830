/** Net trades through any program, and movements that look like one. */
import { assert, describe, it } from "@effect/vitest"
import { Address, type Mint, SOL, USDC } from "../../../src/domain/Address.ts"
import { meteoraDlmm } from "../../../src/programs/meteora/dlmm.ts"
import { TOKEN_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"
import { walletTransfersOf } from "../../../src/chain/decoding/walletTransfers.ts"
import {
  bytesOf,
  type Call,
  little,
  named,
  type Plan,
  sendLamports,
  TOKEN,
  TRADER,
  transactionOf,
  transfer
} from "./transactions.ts"
import { decode, dlmmSwap, held, holdings, KEEPER, program, raydiumSwap, tradesOf } from "./twoPools.ts"

const BOT = named("bot")
const DFLOW = Address.make("DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH")
const OKX = Address.make("proVF4pMXVaYqmy4NjniPh4pqKNfMmsihgd4wdkCX3u")
const KAMINO = Address.make("KLend2g3cP87fffoy8q1mQqGKjrxjC8boSyAYavgmjD")
const TIPS = Address.make("96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5")
const SHARE: Mint = named("share mint")
const NFT: Mint = named("nft mint")

const pay = (from: string, to: string, by: Address, amount: bigint): Call =>
  transfer(named(from), named(to), by, amount)
/** The wallet gives 1000 USDC for 50 of the token, to and from two vaults. */
const bought = [pay("my usdc", "vault usdc", TRADER, 1000n), pay("b token", "my token", named("pool b"), 50n)]
const mintTo = (mint: Mint, account: string, amount: bigint): Call => ({
  program: TOKEN_PROGRAM,
  accounts: [mint, named(account), named("pool b")],
  data: bytesOf("07", little(amount, 8))
})
const burn = (mint: Mint, account: string, amount: bigint): Call => ({
  program: TOKEN_PROGRAM,
  accounts: [named(account), mint, TRADER],
  data: bytesOf("08", little(amount, 8))
})
const close = (account: string, destination: Address): Call => ({
  program: TOKEN_PROGRAM,
  accounts: [named(account), destination, named("router")],
  data: bytesOf("09")
})
const run = (calls: ReadonlyArray<Call>, address = BOT): Call =>
  program(address, [TRADER, named("market")], "00", calls)
const more: Partial<Plan> = {
  holdings: [
    ...holdings,
    held(named("vault"), "vault usdc", USDC),
    held(TRADER, "my share", SHARE),
    held(TRADER, "my other usdc", USDC),
    held(named("front end"), "fee usdc", USDC),
    held(named("front end"), "fee sol", SOL)
  ]
}
const of = (calls: ReadonlyArray<Call>) => decode(calls, more)
const BOUGHT = [[TRADER, "buy", 50n, TOKEN, 1000n, USDC, []]]

describe("a net trade", () => {
  it.each([
    [DFLOW, "dflow"],
    [OKX, "okx"],
    [BOT, null]
  ] as const)("is made through any program that exchanged one mint for another: %s as %s", (address, dex) => {
    const decoded = of([run(bought, address)])
    assert.deepStrictEqual([tradesOf(decoded).nets, decoded.nets[0]?.dex], [BOUGHT, dex])
  })

  it("is found for the second signer as well as for the first", () => {
    const calls = [
      ...bought,
      pay("keeper usdc", "vault usdc", KEEPER, 700n),
      pay("b token", "keeper token", named("pool b"), 30n)
    ]
    const decoded = decode([run(calls)], { ...more, signers: [TRADER, KEEPER] })
    assert.deepStrictEqual(tradesOf(decoded).nets, [...BOUGHT, [KEEPER, "buy", 30n, TOKEN, 700n, USDC, []]])
  })

  it("pays lamports to the owner of the account that paid the tokens", () => {
    const calls = [
      sendLamports(TRADER, named("pool b"), 400n),
      sendLamports(TRADER, named("treasury"), 4n),
      pay("b token", "my token", named("pool b"), 50n)
    ]
    assert.deepStrictEqual(tradesOf(of([run(calls)])).nets, [[TRADER, "buy", 50n, TOKEN, 404n, SOL, []]])
  })

  it("gets the SOL that a router unwraps from its own account", () => {
    const calls = [
      pay("my token", "b token", TRADER, 50n),
      pay("vault sol", "router sol", named("vault"), 300n),
      close("router sol", TRADER)
    ]
    const decoded = decode([run(calls, DFLOW)], {
      holdings: [
        ...holdings.filter(({ address }) => address !== named("router sol")),
        { ...held(named("router"), "router sol", SOL), before: 0n, after: 0n },
        held(named("vault"), "vault sol", SOL)
      ]
    })
    assert.deepStrictEqual(tradesOf(decoded).nets, [[TRADER, "sell", 50n, TOKEN, 300n, SOL, []]])
  })

  it("counts what a stake pool mints inside an aggregator", () => {
    const calls = [pay("my sol", "b sol", TRADER, 200n), mintTo(SHARE, "my share", 190n)]
    assert.deepStrictEqual(tradesOf(of([run(calls, OKX)])).nets, [[TRADER, "buy", 190n, SHARE, 200n, SOL, []]])
  })

  it("pays the SOL that a router wraps for an undecoded pool, in front of a decoded one", () => {
    const calls = [
      sendLamports(TRADER, named("router sol"), 300n),
      pay("router sol", "vault sol", named("router"), 300n),
      pay("vault usdc", "router usdc", named("vault"), 1000n),
      dlmmSwap("router usdc", named("router"), "my sol", 1000n, 200n),
      pay("my sol", "b sol", TRADER, 200n),
      pay("b token", "my token", named("pool b"), 50n)
    ]
    const decoded = decode([run(calls, OKX)], {
      holdings: [...(more.holdings ?? []), held(named("vault"), "vault sol", SOL)]
    })
    assert.deepStrictEqual(tradesOf(decoded).nets, [[TRADER, "buy", 50n, TOKEN, 300n, SOL, [0]]])
  })

  it("is not made of transfers between accounts of the wallet", () => {
    const calls = [pay("my usdc", "my other usdc", TRADER, 5000n), ...bought]
    assert.deepStrictEqual(tradesOf(of([run(calls)])).nets, BOUGHT)
  })
})

describe("no net trade", () => {
  const ONE: ReadonlyArray<readonly [string, ReadonlyArray<Call>]> = [
    ["an airdrop", [run([pay("b token", "my token", named("pool b"), 50n)])]],
    [
      "a claim with a fee in lamports",
      [run([pay("b token", "my token", named("pool b"), 50n), sendLamports(TRADER, named("treasury"), 5000n)])]
    ],
    ["a transfer", [pay("my usdc", "vault usdc", TRADER, 1000n)]],
    ["two transfers in opposite directions", bought],
    ["a payment to many", [run([pay("my usdc", "vault usdc", TRADER, 9n), pay("my token", "b token", TRADER, 9n)])]],
    [
      "a deposit of liquidity that mints a share",
      [run([pay("my usdc", "vault usdc", TRADER, 1000n), mintTo(SHARE, "my share", 7n)])]
    ],
    [
      "a deposit that returns change of another mint and mints a share",
      [run([...bought, mintTo(SHARE, "my share", 7n)])]
    ],
    ["a withdrawal that burns a share", [run([burn(SHARE, "my share", 7n), ...bought])]],
    ["a position that an AMM rebalances", [run(bought, meteoraDlmm.programId)]],
    ["a position that a vault rebalances in an AMM", [run([run(bought, meteoraDlmm.programId)])]],
    ["a stake", [run([sendLamports(TRADER, named("stake pool"), 900n), mintTo(SHARE, "my share", 800n)])]],
    ["a loan against collateral", [run(bought, KAMINO)]],
    [
      "an arbitrage loop",
      [run([...bought, pay("my token", "b token", TRADER, 50n), pay("vault usdc", "my usdc", named("vault"), 1010n)])]
    ],
    [
      "an arbitrage loop that takes dust from the wallet",
      [
        run([
          pay("my usdc", "vault usdc", TRADER, 1000n),
          pay("b token", "my token", named("pool b"), 5000n),
          pay("my token", "b token", TRADER, 5001n),
          pay("vault usdc", "my usdc", named("vault"), 1010n)
        ])
      ]
    ],
    [
      "an arbitrage loop over decoded pools that takes dust from the wallet",
      [
        run([
          raydiumSwap("my sol", TRADER, "my token", 200n, 50n),
          raydiumSwap("my token", TRADER, "my sol", 0n, 0n),
          pay("my token", "b token", TRADER, 51n),
          pay("b sol", "my sol", named("pool b"), 210n)
        ])
      ]
    ],
    [
      "a flash loan that is borrowed and repaid",
      [
        run([pay("vault usdc", "my usdc", named("vault"), 90_000n)]),
        run([pay("my usdc", "vault usdc", TRADER, 90_010n)])
      ]
    ]
  ]
  it.each(ONE)("is made by %s", (_title, calls) => {
    const { nets } = of(calls)
    assert.deepStrictEqual(
      nets.filter(({ legs }) => legs.length === 0),
      []
    )
  })

  it("is made by the sale of an NFT, on either side", () => {
    const nft = { mint: NFT, decimals: 0 }
    const plan = {
      holdings: [
        ...holdings,
        { ...nft, address: named("my nft"), owner: TRADER, before: 1n, after: 0n },
        { ...nft, address: named("keeper nft"), owner: KEEPER, before: 0n, after: 1n }
      ],
      signers: [TRADER, KEEPER]
    }
    const calls = [pay("my nft", "keeper nft", TRADER, 1n), pay("keeper sol", "my sol", KEEPER, 900n)]
    assert.deepStrictEqual(decode([run(calls)], plan).nets, [])
  })
})

const feesOf = (calls: ReadonlyArray<Call>) =>
  of(calls).nets.map(({ fees, quote }) => [
    quote.amount,
    ...fees.map(({ amount, included, kind, mint, recipient }) => [kind, recipient, amount, mint, included])
  ])

describe("the fees of a net trade", () => {
  const FRONT_END = named("front end")

  it("are a payment of 0.875 % next to it, which then is not a transfer", () => {
    const calls = [run([pay("my usdc", "vault usdc", TRADER, 100_000n), ...bought.slice(1)])]
    const paid = pay("my usdc", "fee usdc", TRADER, 875n)
    assert.deepStrictEqual(feesOf([...calls, paid]), [[100_000n, ["front-end", FRONT_END, 875n, USDC, false]]])
    const transaction = transactionOf({ signers: [TRADER], calls: [...calls, paid], holdings: more.holdings ?? [] })
    assert.deepStrictEqual(walletTransfersOf(transaction, of([...calls, paid])), [])
  })

  it("are part of the amounts when the router took them itself", () => {
    const calls = [run([pay("my usdc", "fee usdc", TRADER, 10n), run(bought)], DFLOW)]
    assert.deepStrictEqual(feesOf(calls), [[1010n, ["front-end", FRONT_END, 10n, USDC, true]]])
  })

  it("are a bot's 1 % in lamports and a tip, both on top of the amounts", () => {
    const calls = [
      sendLamports(TRADER, TIPS, 77_777n),
      sendLamports(TRADER, FRONT_END, 2n),
      raydiumSwap("my sol", TRADER, "my token", 200n, 50n)
    ]
    assert.deepStrictEqual(feesOf(calls), [
      [200n, ["tip", TIPS, 77_777n, SOL, false], ["front-end", FRONT_END, 2n, SOL, false]]
    ])
  })

  it("are not a payment of more than a twentieth, in another mint, or for rent", () => {
    const calls = [
      pay("my usdc", "fee usdc", TRADER, 51n),
      sendLamports(TRADER, FRONT_END, 2n),
      sendLamports(TRADER, named("my token"), 3n),
      run(bought)
    ]
    assert.deepStrictEqual(feesOf(calls), [[1000n]])
  })

  it("belong once to the last trade of the wallet that they fit", () => {
    const calls = [
      raydiumSwap("my sol", TRADER, "my token", 200n, 50n),
      dlmmSwap("my usdc", TRADER, "my sol", 1000n, 200n),
      pay("my usdc", "fee usdc", TRADER, 10n)
    ]
    assert.deepStrictEqual(feesOf(calls), [[200n], [1000n, ["front-end", FRONT_END, 10n, USDC, false]]])
  })
})

const priorities = (plan: Partial<Plan>, calls: ReadonlyArray<Call> = [run(bought)]) =>
  decode(calls, { ...more, ...plan }).nets.map(({ priorityLamports }) => priorityLamports)
const verified = (count: number): Call => ({
  program: Address.make("Ed25519SigVerify111111111111111111111111111"),
  accounts: [],
  data: Uint8Array.of(count, 0)
})

describe("the priority fee of a net trade", () => {
  it("is what the network fee exceeds its signatures by, including verified ones", () => {
    assert.deepStrictEqual(priorities({ fee: 5000 }), [0n])
    assert.deepStrictEqual(priorities({ fee: 17_345 }), [12_345n])
    assert.deepStrictEqual(priorities({ fee: 17_345 }, [verified(2), run(bought)]), [2_345n])
    assert.deepStrictEqual(priorities({ fee: 4999 }), [null])
  })

  it("belongs to the first trade of the wallet that paid it, and to no other", () => {
    const signers = [TRADER, KEEPER]
    const other = [pay("keeper usdc", "vault usdc", KEEPER, 700n), pay("b token", "keeper token", named("pool b"), 30n)]
    const calls = [run(bought), run([...bought, ...other])]
    assert.deepStrictEqual(priorities({ fee: 10_007, signers }, calls), [7n, 0n, 0n])
    assert.deepStrictEqual(priorities({ fee: 10_007, signers: signers.toReversed() }, [run(bought)]), [0n])
  })
})
