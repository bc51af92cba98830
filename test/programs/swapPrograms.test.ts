import { assert, describe, it } from "@effect/vitest"
import { programs, swapDecoders } from "../../src/programs/registry.ts"
import { type Address, SOL } from "../../src/domain/Address.ts"
import { decodeTrades } from "../../src/chain/decoding/decodeTrades.ts"
import {
  AMM_V4,
  CLMM,
  CPMM,
  DAMM_V2,
  DBC,
  DLMM,
  type Instruction,
  PUMP_SWAP,
  swapCall,
  WHIRLPOOL
} from "../chain/decoding/swapCalls.ts"
import { POOL, swapHoldings, swapTransfers, TOKEN, TRADER, transactionOf } from "../chain/decoding/transactions.ts"

/** Indexes of the pool and its vaults in the programs' own interface descriptions. */
const instructions: ReadonlyArray<readonly [Address, string, ReadonlyArray<Instruction>]> = [
  [
    AMM_V4,
    "raydium-amm-v4",
    [
      { name: "swapBaseIn", data: "09", accounts: 18, pool: 1, vaults: [5, 6] },
      { name: "swapBaseIn without target orders", data: "09", accounts: 17, pool: 1, vaults: [4, 5] },
      { name: "swapBaseOut", data: "0b", accounts: 18, pool: 1, vaults: [5, 6] },
      { name: "swapBaseOut without target orders", data: "0b", accounts: 17, pool: 1, vaults: [4, 5] },
      { name: "swapBaseInV2", data: "10", accounts: 8, pool: 1, vaults: [3, 4] },
      { name: "swapBaseOutV2", data: "11", accounts: 8, pool: 1, vaults: [3, 4] }
    ]
  ],
  [
    CPMM,
    "raydium-cpmm",
    [
      { name: "swap_base_input", data: "8fbe5adac41e33de", accounts: 13, pool: 3, vaults: [6, 7] },
      { name: "swap_base_output", data: "37d96256a34ab4ad", accounts: 13, pool: 3, vaults: [6, 7] }
    ]
  ],
  [
    CLMM,
    "raydium-clmm",
    [
      { name: "swap", data: "f8c69e91e17587c8", accounts: 10, pool: 2, vaults: [5, 6] },
      { name: "swap_v2", data: "2b04ed0b1ac91e62", accounts: 16, pool: 2, vaults: [5, 6] }
    ]
  ],
  [
    WHIRLPOOL,
    "orca-whirlpool",
    [
      { name: "swap", data: "f8c69e91e17587c8", accounts: 11, pool: 2, vaults: [4, 6] },
      { name: "swap_v2", data: "2b04ed0b1ac91e62", accounts: 15, pool: 4, vaults: [8, 10] }
    ]
  ],
  [
    DLMM,
    "meteora-dlmm",
    [
      { name: "swap", data: "f8c69e91e17587c8", accounts: 17, pool: 0, vaults: [2, 3] },
      { name: "swap2", data: "414b3f4ceb5b5b88", accounts: 18, pool: 0, vaults: [2, 3] },
      { name: "swap_exact_out", data: "fa49652126cf4bb8", accounts: 17, pool: 0, vaults: [2, 3] },
      { name: "swap_exact_out2", data: "2bd7f784893cf351", accounts: 18, pool: 0, vaults: [2, 3] },
      { name: "swap_with_price_impact", data: "38ade6d0ade49ccd", accounts: 17, pool: 0, vaults: [2, 3] },
      { name: "swap_with_price_impact2", data: "4a62c0d6b1334b33", accounts: 18, pool: 0, vaults: [2, 3] }
    ]
  ],
  [
    DAMM_V2,
    "meteora-damm-v2",
    [
      { name: "swap", data: "f8c69e91e17587c8", accounts: 14, pool: 1, vaults: [4, 5] },
      { name: "swap2", data: "414b3f4ceb5b5b88", accounts: 14, pool: 1, vaults: [4, 5] }
    ]
  ],
  [
    DBC,
    "meteora-dbc",
    [
      { name: "swap", data: "f8c69e91e17587c8", accounts: 15, pool: 2, vaults: [5, 6] },
      { name: "swap2", data: "414b3f4ceb5b5b88", accounts: 15, pool: 2, vaults: [5, 6] },
      { name: "swap2_with_transfer_hook", data: "b75d992818e6c297", accounts: 18, pool: 2, vaults: [5, 6] }
    ]
  ],
  [
    PUMP_SWAP,
    "pumpswap",
    [
      { name: "buy", data: "66063d1201daebea", accounts: 23, pool: 0, vaults: [7, 8] },
      { name: "sell", data: "33e685a4017f83ad", accounts: 21, pool: 0, vaults: [7, 8] },
      { name: "buy_exact_quote_in", data: "c62e1552b4d9e870", accounts: 23, pool: 0, vaults: [7, 8] },
      { name: "buy_v2", data: "b817ee6167c5d33d", accounts: 17, pool: 0, vaults: [7, 8] },
      { name: "sell_v2", data: "5df6823ce7e940b2", accounts: 17, pool: 0, vaults: [7, 8] },
      { name: "buy_exact_quote_in_v2", data: "c2ab1c46684d5b2f", accounts: 17, pool: 0, vaults: [7, 8] }
    ]
  ]
]

const cases = instructions.flatMap(([program, dex, all]) =>
  all.map((instruction) => ({ program, dex, instruction, title: `${dex} ${instruction.name}` }))
)

const sorted = (all: ReadonlyArray<{ readonly dex: string; readonly programId: Address }>) =>
  all.map(({ dex, programId }) => `${dex} ${programId}`).toSorted()

describe("swap instructions", () => {
  it("are decoded under the same label and address as the priced pools", () => {
    assert.deepStrictEqual(sorted(swapDecoders.filter(({ quotable }) => quotable !== false)), sorted(programs))
  })

  it.each(cases)("of $title give the pool, both amounts and the owner", ({ program, dex, instruction }) => {
    const call = swapCall(program, instruction, ["vault token", "vault sol"], swapTransfers())
    const { legs, nets, unresolved } = decodeTrades(
      transactionOf({ signers: [TRADER], calls: [call], holdings: swapHoldings() })
    )
    assert.strictEqual(unresolved, 0)
    assert.strictEqual(legs.length, 1)
    const [leg] = legs
    assert.strictEqual(leg?.dex, dex)
    assert.strictEqual(leg?.pool, POOL)
    assert.strictEqual(leg?.wallet, TRADER)
    assert.strictEqual(leg?.side, "buy")
    assert.deepStrictEqual(leg?.token, { mint: TOKEN, amount: 50n, decimals: 6 })
    assert.deepStrictEqual(leg?.quote, { mint: SOL, amount: 1000n, decimals: 9 })
    assert.strictEqual(leg?.confirmed, null)
    assert.strictEqual(nets.length, 1)
    assert.strictEqual(nets[0]?.pool, POOL)
    assert.deepStrictEqual(nets[0]?.quote, leg?.quote)
  })

  it.each(cases)("of $title are the same with the vaults swapped", ({ program, instruction }) => {
    const call = swapCall(program, instruction, ["vault sol", "vault token"], swapTransfers())
    const { legs } = decodeTrades(transactionOf({ signers: [TRADER], calls: [call], holdings: swapHoldings() }))
    assert.strictEqual(legs[0]?.side, "buy")
    assert.strictEqual(legs[0]?.token.amount, 50n)
  })

  it.each(cases)("of $title that moved nothing are counted as unresolved, not made up", ({ program, instruction }) => {
    const call = swapCall(program, instruction, ["vault sol", "vault token"], [])
    const decoded = decodeTrades(transactionOf({ signers: [TRADER], calls: [call], holdings: swapHoldings(0n, 0n) }))
    assert.deepStrictEqual(decoded, { legs: [], nets: [], unresolved: 1 })
  })

  it("with another discriminator are no swaps", () => {
    const call = swapCall(
      CLMM,
      { name: "other", data: "0102030405060708", accounts: 16, pool: 2, vaults: [5, 6] },
      ["vault sol", "vault token"],
      swapTransfers()
    )
    const decoded = decodeTrades(transactionOf({ signers: [TRADER], calls: [call], holdings: swapHoldings() }))
    assert.deepStrictEqual(decoded, { legs: [], nets: [], unresolved: 0 })
  })
})
