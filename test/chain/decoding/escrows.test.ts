/** Orders of any program that keepers fill, and movements that look like an order. */
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
import { decode, dlmmSwap, held, holdings, jupiter, KEEPER, program, tradesOf } from "./twoPools.ts"

const KEEPING = named("order program")
const ORDER = named("order")
const PERPETUALS = Address.make("PERPHjGBqRHArX4DySjwM6UJHiR3sWAatqfdBS2qQJu")
const KAMINO = Address.make("KLend2g3cP87fffoy8q1mQqGKjrxjC8boSyAYavgmjD")
const SHARE: Mint = named("share mint")
const NFT: Mint = named("nft mint")
const OTHER = named("winner")

const accounts = [
  ...holdings,
  held(named("vault"), "vault usdc", USDC),
  held(named("vault"), "vault sol", SOL),
  held(named("vault"), "vault token", TOKEN),
  held(named("treasury"), "fee usdc", USDC),
  held(named("treasury"), "fee token", TOKEN),
  held(ORDER, "order sol", SOL),
  held(ORDER, "order token", TOKEN),
  held(OTHER, "other token", TOKEN),
  held(OTHER, "other usdc", USDC),
  held(named("fill order"), "second usdc", USDC),
  held(TRADER, "my share", SHARE)
]
const pay = (from: string, to: string, by: Address, amount: bigint): Call =>
  transfer(named(from), named(to), by, amount)
const mintTo = (mint: Mint, account: string, amount: bigint): Call => ({
  program: TOKEN_PROGRAM,
  accounts: [mint, named(account), named("vault")],
  data: bytesOf("07", little(amount, 8))
})
const fill = (calls: ReadonlyArray<Call>, address = KEEPING): Call =>
  program(address, [KEEPER, ORDER, TRADER], "fc681286a44e128d", calls)
const byKeeper: Partial<Plan> = { signers: [KEEPER], holdings: accounts }
const of = (calls: ReadonlyArray<Call>, plan: Partial<Plan> = {}) => decode(calls, { ...byKeeper, ...plan })

/** 1000 USDC leave escrow for an undecoded pool, and 50 of the token go from the pool to the order's owner. */
const swapped = [pay("order usdc", "vault usdc", ORDER, 1000n), pay("vault token", "my token", named("vault"), 50n)]
const FILLED = [[TRADER, "buy", 50n, TOKEN, 1000n, USDC, []]]

describe("an order in the escrow of any program", () => {
  it("is a trade of the wallet that was paid, although it signs nothing", () => {
    assert.deepStrictEqual(tradesOf(of([fill(swapped)])), { legs: [], nets: FILLED })
  })

  it("belongs to its owner when a decoded pool filled it, and so do its legs", () => {
    const decoded = tradesOf(of([fill([dlmmSwap("order usdc", ORDER, "my sol", 1000n, 200n)])]))
    assert.deepStrictEqual(decoded, {
      legs: [[TRADER, "buy", 200n, SOL, 1000n, USDC]],
      nets: [[TRADER, "buy", 200n, SOL, 1000n, USDC, [0]]]
    })
  })

  it("is not a trade of the keeper, who passes the tokens on and keeps a part", () => {
    const calls = [
      pay("order sol", "keeper sol", ORDER, 1000n),
      pay("keeper sol", "vault sol", KEEPER, 990n),
      pay("vault token", "keeper token", named("vault"), 50n),
      pay("keeper token", "my token", KEEPER, 49n)
    ]
    assert.deepStrictEqual(tradesOf(of([fill(calls)])).nets, [[TRADER, "buy", 49n, TOKEN, 1000n, SOL, []]])
  })

  it("is a trade of both when the keeper pays with its own tokens", () => {
    const calls = [pay("order usdc", "keeper usdc", ORDER, 1000n), pay("keeper token", "my token", KEEPER, 50n)]
    assert.deepStrictEqual(tradesOf(of([fill(calls)])).nets, [...FILLED, [KEEPER, "sell", 50n, TOKEN, 1000n, USDC, []]])
  })

  it("is paid in lamports, including SOL that the keeper unwraps", () => {
    const unwrap: Call = {
      program: TOKEN_PROGRAM,
      accounts: [named("router sol"), TRADER, named("router")],
      data: bytesOf("09")
    }
    const sold = pay("order usdc", "vault usdc", ORDER, 1000n)
    const nets = [[TRADER, "buy", 200n, SOL, 1000n, USDC, []]]
    const sent = [pay("vault sol", "keeper sol", named("vault"), 201n), sendLamports(KEEPER, TRADER, 200n)]
    assert.deepStrictEqual(tradesOf(of([fill([sold, ...sent])])).nets, nets)
    const empty = { ...held(named("router"), "router sol", SOL), before: 0n, after: 0n }
    const plan = { holdings: [...accounts.filter(({ address }) => address !== empty.address), empty] }
    const unwrapped = [pay("vault sol", "router sol", named("vault"), 200n), unwrap]
    assert.deepStrictEqual(tradesOf(of([fill([sold, ...unwrapped])], plan)).nets, nets)
  })

  it("pays a fee of at most a twentieth, and gives only what was not returned", () => {
    const calls = [
      pay("order usdc", "fee usdc", ORDER, 50n),
      pay("order usdc", "vault usdc", ORDER, 950n),
      pay("vault token", "my token", named("vault"), 100n),
      pay("vault token", "fee token", named("vault"), 5n),
      pay("order usdc", "my usdc", ORDER, 500n)
    ]
    assert.deepStrictEqual(tradesOf(of([fill(calls)])).nets, [[TRADER, "buy", 100n, TOKEN, 1000n, USDC, []]])
    const more = [...calls, pay("vault token", "fee token", named("vault"), 1n)]
    assert.deepStrictEqual(of([fill(more)]).nets, [])
  })

  it("is taken, swapped and paid in several instructions of one transaction, none of which is a transfer", () => {
    const calls = [
      fill([pay("order usdc", "keeper usdc", ORDER, 1000n)]),
      jupiter([dlmmSwap("keeper usdc", KEEPER, "keeper sol", 1000n, 200n)]),
      fill([pay("keeper sol", "my sol", KEEPER, 199n)])
    ]
    const decoded = of(calls)
    assert.deepStrictEqual(tradesOf(decoded), {
      legs: [[TRADER, "buy", 200n, SOL, 1000n, USDC]],
      nets: [[TRADER, "buy", 199n, SOL, 1000n, USDC, [0]]]
    })
    const transaction = transactionOf({ signers: [KEEPER], calls, holdings: accounts })
    assert.deepStrictEqual(walletTransfersOf(transaction, decoded), [])
  })

  it("is one of several in a transaction, each in its own instruction", () => {
    const second = program(KEEPING, [KEEPER, ORDER, OTHER], "fc681286a44e128d", [
      pay("order token", "vault token", ORDER, 7n),
      pay("vault usdc", "other usdc", named("vault"), 140n)
    ])
    assert.deepStrictEqual(tradesOf(of([fill(swapped), second])).nets, [
      ...FILLED,
      [OTHER, "sell", 7n, TOKEN, 140n, USDC, []]
    ])
  })
})

describe("no order in escrow", () => {
  const NONE: ReadonlyArray<readonly [string, ReadonlyArray<Call>]> = [
    ["a withdrawal of what was deposited", [fill([pay("order usdc", "my usdc", ORDER, 1000n)])]],
    [
      "a withdrawal of two mints",
      [fill([pay("order usdc", "my usdc", ORDER, 9n), pay("order token", "my token", ORDER, 5n)])]
    ],
    [
      "a deposit that a keeper makes for a wallet",
      [fill([pay("order usdc", "vault usdc", ORDER, 1000n), mintTo(SHARE, "my share", 7n)])]
    ],
    [
      "a withdrawal of liquidity that is swapped into one mint",
      [
        fill([
          program(meteoraDlmm.programId, [TRADER, ORDER], "00", [pay("order usdc", "vault usdc", ORDER, 1000n)]),
          ...swapped.slice(1)
        ])
      ]
    ],
    ["a call of an AMM that pays another wallet", [fill(swapped, meteoraDlmm.programId)]],
    ["collateral that is sold for the loan", [fill([fill(swapped, KAMINO)])]],
    ["a position of perpetuals that pays in another mint", [fill(swapped, PERPETUALS)]],
    [
      "a payout of rewards to two wallets",
      [fill([...swapped, pay("vault token", "other token", named("vault"), 50n)])]
    ],
    [
      "a crank that moves fees and pays rewards",
      [fill([pay("order usdc", "fee usdc", ORDER, 1000n), pay("vault token", "my token", named("vault"), 50n)])]
    ],
    ["a swap whose wallet the program does not name", [program(KEEPING, [KEEPER, ORDER], "00", swapped)]],
    ["a transfer of two owners", swapped],
    [
      "a loan that is borrowed, traded and repaid",
      [
        fill([
          pay("order usdc", "vault usdc", ORDER, 1000n),
          pay("vault usdc", "order usdc", named("vault"), 1000n),
          pay("vault token", "my token", named("vault"), 50n)
        ])
      ]
    ],
    [
      "a keeper that swaps for an account of a program",
      [
        program(KEEPING, [KEEPER, ORDER, named("treasury")], "00", [
          ...swapped.slice(0, 1),
          pay("vault token", "fee token", named("vault"), 50n)
        ])
      ]
    ],
    [
      "a swap out of another wallet by its delegate",
      [fill([pay("other usdc", "vault usdc", KEEPER, 1000n), ...swapped.slice(1)])]
    ],
    ["two orders at once", [fill([...swapped, pay("second usdc", "vault usdc", named("fill order"), 500n)])]]
  ]
  it.each(NONE)("is %s", (_title, calls) => {
    assert.deepStrictEqual(tradesOf(of(calls)).nets, [])
  })

  it("is a swap of a wallet whose output goes to another wallet", () => {
    const calls = [pay("keeper usdc", "vault usdc", KEEPER, 1000n), pay("vault token", "my token", named("vault"), 50n)]
    assert.deepStrictEqual(of([fill(calls)]).nets, [])
  })

  it("is an NFT sold out of escrow", () => {
    const nft = { mint: NFT, decimals: 0 }
    const plan = {
      holdings: [
        ...accounts,
        { ...nft, address: named("order nft"), owner: ORDER, before: 1n, after: 0n },
        { ...nft, address: named("keeper nft"), owner: KEEPER, before: 0n, after: 1n }
      ]
    }
    const calls = [pay("order nft", "keeper nft", ORDER, 1n), pay("keeper sol", "my sol", KEEPER, 900n)]
    assert.deepStrictEqual(of([fill(calls)], plan).nets, [])
  })

  it("is a signer's own withdrawal", () => {
    assert.deepStrictEqual(of([fill(swapped)], { signers: [TRADER] }).nets, [])
  })
})
