import { assert, describe, it } from "@effect/vitest"
import { programs } from "../../src/amm/programs.ts"
import { Address, SOL } from "../../src/domain/Address.ts"
import { decodeTrades } from "../../src/trades/decode.ts"
import { swapPrograms } from "../../src/trades/swapPrograms.ts"
import {
  accountsAt,
  bytesOf,
  type Call,
  event,
  little,
  named,
  POOL,
  swapHoldings,
  swapTransfers,
  TOKEN,
  TRADER,
  transactionOf
} from "./transactions.ts"

interface Instruction {
  readonly name: string
  readonly data: string
  readonly accounts: number
  readonly pool: number
  readonly vaults: readonly [number, number]
}

const AMM_V4 = Address.make("675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8")
const CPMM = Address.make("CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C")
const CLMM = Address.make("CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK")
const WHIRLPOOL = Address.make("whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc")
const DLMM = Address.make("LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo")
const DAMM_V2 = Address.make("cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG")
const DBC = Address.make("dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN")
const PUMP_SWAP = Address.make("pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA")

/** Where the programs' own interface descriptions put the pool and its vaults. */
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
      { name: "swap2", data: "414b3f4ceb5b5b88", accounts: 15, pool: 2, vaults: [5, 6] }
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

const swapCall = (
  program: Address,
  { data, accounts, pool, vaults }: Instruction,
  [first, second]: readonly [string, string],
  calls: ReadonlyArray<Call>
): Call => ({
  program,
  accounts: accountsAt(accounts, { [pool]: POOL, [vaults[0]]: named(first), [vaults[1]]: named(second) }),
  data: bytesOf(data, little(1000n, 8), little(1n, 8)),
  calls
})

const cases = instructions.flatMap(([program, dex, all]) =>
  all.map((instruction) => ({ program, dex, instruction, title: `${dex} ${instruction.name}` }))
)

const sorted = (all: ReadonlyArray<{ readonly dex: string; readonly programId: Address }>) =>
  all.map(({ dex, programId }) => `${dex} ${programId}`).toSorted()

describe("swap instructions", () => {
  it("are decoded under the same label and address as the pools that are priced", () => {
    assert.deepStrictEqual(sorted(swapPrograms), sorted(programs))
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

  it.each(cases)("of $title are the same with the vaults the other way round", ({ program, instruction }) => {
    const call = swapCall(program, instruction, ["vault sol", "vault token"], swapTransfers())
    const { legs } = decodeTrades(transactionOf({ signers: [TRADER], calls: [call], holdings: swapHoldings() }))
    assert.strictEqual(legs[0]?.side, "buy")
    assert.strictEqual(legs[0]?.token.amount, 50n)
  })

  it.each(cases)("of $title that moved nothing are counted, not made up", ({ program, instruction }) => {
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

const zeros = (bytes: number) => new Uint8Array(bytes)

/** Events as the programs write them, that say 1000 in and 50 out. */
const events: ReadonlyArray<{
  readonly title: string
  readonly program: Address
  readonly instruction: Instruction
  readonly tag: string
  readonly body: (amountIn: bigint, amountOut: bigint) => Uint8Array
}> = [
  {
    title: "meteora-dlmm Swap",
    program: DLMM,
    instruction: { name: "swap", data: "f8c69e91e17587c8", accounts: 17, pool: 0, vaults: [2, 3] },
    tag: "516ce3becdd00ac4",
    body: (amountIn, amountOut) => bytesOf(zeros(72), little(amountIn, 8), little(amountOut, 8), zeros(41))
  },
  {
    title: "meteora-damm-v2 EvtSwap",
    program: DAMM_V2,
    instruction: { name: "swap", data: "f8c69e91e17587c8", accounts: 14, pool: 1, vaults: [4, 5] },
    tag: "1b3c15d58aaabb93",
    body: (amountIn, amountOut) => bytesOf(zeros(50), little(amountOut, 8), zeros(48), little(amountIn, 8), zeros(8))
  },
  {
    title: "meteora-damm-v2 EvtSwap2",
    program: DAMM_V2,
    instruction: { name: "swap2", data: "414b3f4ceb5b5b88", accounts: 14, pool: 1, vaults: [4, 5] },
    tag: "bd4233a826507599",
    body: (amountIn, amountOut) => bytesOf(zeros(76), little(amountOut, 8), zeros(48), little(amountIn, 8), zeros(40))
  },
  {
    title: "meteora-dbc EvtSwap",
    program: DBC,
    instruction: { name: "swap", data: "f8c69e91e17587c8", accounts: 15, pool: 2, vaults: [5, 6] },
    tag: "1b3c15d58aaabb93",
    body: (amountIn, amountOut) => bytesOf(zeros(90), little(amountOut, 8), zeros(40), little(amountIn, 8), zeros(8))
  },
  {
    title: "meteora-dbc EvtSwap2",
    program: DBC,
    instruction: { name: "swap2", data: "414b3f4ceb5b5b88", accounts: 15, pool: 2, vaults: [5, 6] },
    tag: "bd4233a826507599",
    body: (amountIn, amountOut) => bytesOf(zeros(83), little(amountIn, 8), zeros(16), little(amountOut, 8), zeros(72))
  }
]

describe("events that a program sends to itself", () => {
  const confirmedBy = ({ program, instruction, tag, body }: (typeof events)[number], amountIn: bigint) => {
    const told = event(program, tag, body(amountIn, 50n))
    const call = swapCall(program, instruction, ["vault sol", "vault token"], [...swapTransfers(), told])
    const { legs } = decodeTrades(transactionOf({ signers: [TRADER], calls: [call], holdings: swapHoldings() }))
    return [legs[0]?.confirmed, legs[0]?.quote.amount]
  }

  it.each(events)("confirm the amounts of $title, or contradict them without replacing them", (each) => {
    assert.deepStrictEqual(confirmedBy(each, 1000n), [true, 1000n])
    assert.deepStrictEqual(confirmedBy(each, 1001n), [false, 1000n])
  })
})

/** Log events that say 1000 in and 50 out. */
const logs: ReadonlyArray<{
  readonly title: string
  readonly program: Address
  readonly instruction: Instruction
  readonly line: (amountIn: bigint, amountOut: bigint) => string
}> = [
  {
    title: "raydium-amm-v4 swapBaseIn",
    program: AMM_V4,
    instruction: { name: "swapBaseIn", data: "09", accounts: 18, pool: 1, vaults: [5, 6] },
    line: (amountIn, amountOut) =>
      `Program log: ray_log: ${Buffer.from(bytesOf("03", little(amountIn, 8), zeros(40), little(amountOut, 8))).toString("base64")}`
  },
  {
    title: "raydium-amm-v4 swapBaseOut",
    program: AMM_V4,
    instruction: { name: "swapBaseOut", data: "0b", accounts: 18, pool: 1, vaults: [5, 6] },
    line: (amountIn, amountOut) =>
      `Program log: ray_log: ${Buffer.from(bytesOf("04", zeros(8), little(amountOut, 8), zeros(32), little(amountIn, 8))).toString("base64")}`
  },
  {
    title: "raydium-cpmm SwapEvent",
    program: CPMM,
    instruction: { name: "swap_base_input", data: "8fbe5adac41e33de", accounts: 13, pool: 3, vaults: [6, 7] },
    // The transfer fee of the input is told apart.
    line: (amountIn, amountOut) =>
      `Program data: ${Buffer.from(bytesOf("40c6cde8260871e2", zeros(48), little(amountIn - 10n, 8), little(amountOut, 8), little(10n, 8), little(3n, 8), "01")).toString("base64")}`
  },
  {
    title: "raydium-clmm SwapEvent, token 0 for token 1",
    program: CLMM,
    instruction: { name: "swap", data: "f8c69e91e17587c8", accounts: 10, pool: 2, vaults: [5, 6] },
    line: (amountIn, amountOut) =>
      `Program data: ${Buffer.from(bytesOf("40c6cde8260871e2", zeros(128), little(amountIn, 8), zeros(8), little(amountOut, 8), zeros(8), "01", zeros(36))).toString("base64")}`
  },
  {
    title: "raydium-clmm SwapEvent, token 1 for token 0",
    program: CLMM,
    instruction: { name: "swap", data: "f8c69e91e17587c8", accounts: 10, pool: 2, vaults: [5, 6] },
    line: (amountIn, amountOut) =>
      `Program data: ${Buffer.from(bytesOf("40c6cde8260871e2", zeros(128), little(amountOut, 8), zeros(8), little(amountIn, 8), zeros(8), "00", zeros(36))).toString("base64")}`
  },
  {
    title: "orca-whirlpool Traded",
    program: WHIRLPOOL,
    instruction: { name: "swap", data: "f8c69e91e17587c8", accounts: 11, pool: 2, vaults: [4, 6] },
    line: (amountIn, amountOut) =>
      `Program data: ${Buffer.from(bytesOf("e1ca49af932ba096", zeros(65), little(amountIn, 8), little(amountOut, 8), zeros(32))).toString("base64")}`
  }
]

describe("events in the log", () => {
  const decodedWith = (
    { program, instruction }: (typeof logs)[number],
    lines: ReadonlyArray<string>
  ): boolean | null | undefined => {
    const call = swapCall(program, instruction, ["vault sol", "vault token"], swapTransfers())
    const plan = { signers: [TRADER], calls: [call], holdings: swapHoldings() }
    const during = [`Program ${program} invoke [1]`, ...lines, `Program ${program} success`]
    return decodeTrades(transactionOf({ ...plan, logs: during })).legs[0]?.confirmed
  }

  it.each(logs)("confirm or contradict $title", (each) => {
    assert.strictEqual(decodedWith(each, [each.line(1000n, 50n)]), true)
    assert.strictEqual(decodedWith(each, [each.line(1000n, 49n)]), false)
  })

  it.each(logs)("say nothing of $title when the log was cut short, or another program wrote them", (each) => {
    const other = named("some other program")
    const line = each.line(1000n, 50n)
    assert.strictEqual(decodedWith(each, ["Log truncated"]), null)
    assert.strictEqual(decodedWith(each, [`Program ${other} invoke [2]`, line, `Program ${other} success`]), null)
  })
})
