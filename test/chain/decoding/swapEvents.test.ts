import { assert, describe, it } from "@effect/vitest"
import type { Address } from "../../../src/domain/Address.ts"
import { decodeTrades } from "../../../src/chain/decoding/decodeTrades.ts"
import { AMM_V4, CLMM, CPMM, DAMM_V2, DBC, DLMM, type Instruction, swapCall, WHIRLPOOL } from "./swapCalls.ts"
import { bytesOf, event, little, named, swapHoldings, swapTransfers, TRADER, transactionOf } from "./transactions.ts"

const zeros = (bytes: number) => new Uint8Array(bytes)

/** Events as the programs write them, with 1000 in and 50 out. */
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
    body: (amountIn, amountOut) => bytesOf(zeros(52), little(amountIn, 8), zeros(16), little(amountOut, 8), zeros(96))
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
  },
  {
    title: "meteora-dbc EvtSwap2WithTransferHook",
    program: DBC,
    instruction: { name: "swap2_with_transfer_hook", data: "b75d992818e6c297", accounts: 18, pool: 2, vaults: [5, 6] },
    tag: "863ba8785e3372e7",
    body: (amountIn, amountOut) => bytesOf(zeros(83), little(amountIn, 8), zeros(16), little(amountOut, 8), zeros(72))
  }
]

describe("events that a program sends to itself", () => {
  const confirmedBy = ({ program, instruction, tag, body }: (typeof events)[number], amountIn: bigint) => {
    const sent = event(program, tag, body(amountIn, 50n))
    const call = swapCall(program, instruction, ["vault sol", "vault token"], [...swapTransfers(), sent])
    const { legs } = decodeTrades(transactionOf({ signers: [TRADER], calls: [call], holdings: swapHoldings() }))
    return [legs[0]?.confirmed, legs[0]?.quote.amount]
  }

  it.each(events)("confirm the amounts of $title, or contradict them without replacing them", (each) => {
    assert.deepStrictEqual(confirmedBy(each, 1000n), [true, 1000n])
    assert.deepStrictEqual(confirmedBy(each, 1001n), [false, 1000n])
  })
})

/** Log events with 1000 in and 50 out. */
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
    // Transfer fees are fields of their own. The input is stated without its fee, the output with it.
    line: (amountIn, amountOut) =>
      `Program data: ${Buffer.from(bytesOf("40c6cde8260871e2", zeros(48), little(amountIn, 8), little(amountOut, 8), little(10n, 8), little(3n, 8), "01")).toString("base64")}`
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

  it.each(logs)("are ignored for $title when the log was truncated, or another program wrote them", (each) => {
    const other = named("some other program")
    const line = each.line(1000n, 50n)
    assert.strictEqual(decodedWith(each, ["Log truncated"]), null)
    assert.strictEqual(decodedWith(each, [`Program ${other} invoke [2]`, line, `Program ${other} success`]), null)
  })

  it.each(logs)("of $title are matched past calls that the program made", (each) => {
    const lines = [
      "Program 11111111111111111111111111111111 invoke [2]",
      "Program 11111111111111111111111111111111 success"
    ]
    assert.strictEqual(decodedWith(each, [...lines, each.line(1000n, 50n)]), true)
  })

  it.each(logs)(
    "of $title are dealt out in order, and not at all when one is missing",
    ({ program, instruction, line }) => {
      const one = swapCall(program, instruction, ["vault sol", "vault token"], swapTransfers(1000n, 50n))
      const two = swapCall(program, instruction, ["vault sol", "vault token"], swapTransfers(700n, 30n))
      const plan = { signers: [TRADER], calls: [one, two], holdings: swapHoldings(1700n, 80n) }
      const confirmedBy = (lines: ReadonlyArray<string>) => {
        const during = lines.flatMap((each) => [`Program ${program} invoke [1]`, each, `Program ${program} success`])
        return decodeTrades(transactionOf({ ...plan, logs: during })).legs.map(({ confirmed }) => confirmed)
      }
      assert.deepStrictEqual(confirmedBy([line(1000n, 50n), line(700n, 30n)]), [true, true])
      assert.deepStrictEqual(confirmedBy([line(700n, 30n), line(1000n, 50n)]), [false, false])
      assert.deepStrictEqual(confirmedBy([line(1000n, 50n)]), [null, null])
    }
  )
})
