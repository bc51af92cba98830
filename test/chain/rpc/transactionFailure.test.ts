import { assert, describe, it } from "@effect/vitest"
import { transactionFailure } from "../../../src/chain/rpc/transactionFailure.ts"

const JUPITER = "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4"
const CLMM = "CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK"
const AMM_V4 = "675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8"
const WHIRLPOOL = "whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc"
const TOKEN = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
const OTHER_PROGRAM = "Vote111111111111111111111111111111111111111"

const custom = (code: number, index = 3) => ({ InstructionError: [index, { Custom: code }] })

const hex = (code: number) => `0x${code.toString(16)}`

/** The logs of calls from the first program to the last, which fails. */
const failing = (code: number, ...programs: ReadonlyArray<string>) => [
  ...programs.map((program, depth) => `Program ${program} invoke [${depth + 1}]`),
  ...programs.toReversed().map((program) => `Program ${program} failed: custom program error: ${hex(code)}`)
]

const anchor = (name: string, code: number) =>
  `Program log: AnchorError thrown in programs/amm/src/swap.rs:1. Error Code: ${name}. Error Number: ${code}. Error Message: x.`

const slippage: ReadonlyArray<readonly [string, string, number]> = [
  ["Raydium AMM v4", AMM_V4, 30],
  ["Raydium CPMM", "CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C", 6005],
  ["Whirlpool, too little out", WHIRLPOOL, 6036],
  ["Whirlpool, too much in", WHIRLPOOL, 6037],
  ["Meteora DLMM", "LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo", 6003],
  ["Meteora DAMM v2", "cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG", 6002],
  ["the Meteora bonding curve", "dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN", 6002],
  ["Pump, too much SOL", "6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P", 6002],
  ["Pump, too little SOL", "6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P", 6003],
  ["PumpSwap", "pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA", 6004],
  ["Jupiter", JUPITER, 6001]
]

describe("transactionFailure", () => {
  it.each(slippage)("knows the slippage error of %s", (_, program, code) => {
    const failure = transactionFailure(custom(code), failing(code, program))
    assert.strictEqual(failure.code, "slippage_exceeded")
    assert.strictEqual(failure.instructionIndex, 3)
    assert.strictEqual(failure.customCode, code)
    assert.strictEqual(failure.message, `Instruction 3 failed with error ${code} of ${program}.`)
  })

  it("blames the innermost program, whoever called it", () => {
    assert.strictEqual(transactionFailure(custom(30), failing(30, JUPITER, AMM_V4)).code, "slippage_exceeded")
    assert.strictEqual(
      transactionFailure(custom(6001), failing(6001, JUPITER, OTHER_PROGRAM)).code,
      "instruction_error"
    )
    assert.strictEqual(transactionFailure(custom(1), failing(1, JUPITER, TOKEN)).code, "insufficient_funds")
    assert.strictEqual(transactionFailure(custom(1), failing(1, TOKEN, JUPITER)).code, "instruction_error")
  })

  it("goes by the name that Raydium CLMM logs, because its numbers have changed", () => {
    const logs = failing(6022, CLMM)
    const named = (name: string, code: number) => [anchor(name, code), ...logs]
    assert.strictEqual(transactionFailure(custom(6022), logs).code, "instruction_error")
    const failure = transactionFailure(custom(6022), named("TooLittleOutputReceived", 6022))
    assert.strictEqual(failure.code, "slippage_exceeded")
    assert.strictEqual(failure.message, `Instruction 3 failed with error 6022 (TooLittleOutputReceived) of ${CLMM}.`)
    const other = transactionFailure(custom(6022), named("TooLittleOutputReceived", 6016))
    assert.strictEqual(other.code, "instruction_error", "a name logged for another number")
  })

  it("interprets no number without logs, and no number that a program merely claims", () => {
    assert.deepStrictEqual(transactionFailure(custom(6001), []), {
      code: "instruction_error",
      instructionIndex: 3,
      customCode: 6001,
      message: "Instruction 3 failed with error 6001."
    })
    const claimed = [
      `Program log: Program ${JUPITER} failed: custom program error: 0x1771`,
      ...failing(6001, OTHER_PROGRAM)
    ]
    assert.strictEqual(transactionFailure(custom(6001), claimed).code, "instruction_error")
  })

  it("keeps the largest number that a program can raise", () => {
    assert.strictEqual(transactionFailure(custom(4_294_967_295), []).customCode, 4_294_967_295)
  })

  it("names errors of an instruction", () => {
    assert.deepStrictEqual(transactionFailure({ InstructionError: [0, "InvalidAccountData"] }, []), {
      code: "instruction_error",
      instructionIndex: 0,
      customCode: null,
      message: "Instruction 0 failed: InvalidAccountData."
    })
    assert.strictEqual(
      transactionFailure({ InstructionError: [1, "InsufficientFunds"] }, []).code,
      "insufficient_funds"
    )
    const borsh = transactionFailure({ InstructionError: [2, { BorshIoError: "Unknown" }] }, [])
    assert.strictEqual(borsh.message, "Instruction 2 failed: BorshIoError.")
    assert.strictEqual(borsh.code, "instruction_error")
  })

  it.each([
    ["BlockhashNotFound", "blockhash_expired", "BlockhashNotFound"],
    ["InsufficientFundsForFee", "insufficient_funds", "InsufficientFundsForFee"],
    [{ InsufficientFundsForRent: { account_index: 2 } }, "insufficient_funds", "InsufficientFundsForRent"],
    ["AccountInUse", "account_error", "AccountInUse"],
    [
      { ProgramExecutionTemporarilyRestricted: { account_index: 2 } },
      "account_error",
      "ProgramExecutionTemporarilyRestricted"
    ],
    ["AlreadyProcessed", "other", "AlreadyProcessed"],
    [{ DuplicateInstruction: 4 }, "other", "DuplicateInstruction"],
    ["SomethingNewer", "other", "SomethingNewer"],
    ["constructor", "other", "constructor"],
    [{ InstructionError: "odd" }, "other", "InstructionError"],
    [{}, "other", null]
  ] as const)("maps %j to %s", (error, code, message) => {
    const failure = transactionFailure(error, [])
    assert.deepStrictEqual(failure, { code, instructionIndex: null, customCode: null, message })
  })
})
