/** Program errors that mean something to a trader: only those that the programs' sources state and never changed. */

/** The meaning of a program error for the signer of the transaction. */
export type Meaning = "slippage_exceeded" | "insufficient_funds"

interface ErrorCodes {
  readonly means: Meaning
  readonly codes: ReadonlyArray<number>
  /** Names as Anchor logs them. They stay the same when the error numbers change. */
  readonly names: ReadonlyArray<string>
}

const slippage = (codes: ReadonlyArray<number>, names: ReadonlyArray<string> = []): ErrorCodes => ({
  means: "slippage_exceeded",
  codes,
  names
})

const funds = (...codes: ReadonlyArray<number>): ErrorCodes => ({ means: "insufficient_funds", codes, names: [] })

const errorsOf: Readonly<Record<string, ReadonlyArray<ErrorCodes>>> = {
  // System program: ResultWithNegativeLamports.
  "11111111111111111111111111111111": [funds(1)],
  // SPL Token and Token-2022: InsufficientFunds.
  TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA: [funds(1)],
  TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb: [funds(1)],
  // Raydium AMM v4: ExceededSlippage, InsufficientFunds.
  "675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8": [slippage([30]), funds(40)],
  // Raydium CPMM: ExceededSlippage.
  CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C: [slippage([6005])],
  // Raydium CLMM renumbered its errors when it gained limit orders, so only the names are certain.
  CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK: [
    slippage([], ["TooLittleOutputReceived", "TooMuchInputPaid", "PriceSlippageCheck"])
  ],
  // Whirlpool: AmountOutBelowMinimum, AmountInAboveMaximum.
  whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc: [slippage([6036, 6037])],
  // Meteora DLMM: ExceededAmountSlippageTolerance, ExceededBinSlippageTolerance.
  LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo: [slippage([6003, 6004])],
  // Meteora DAMM v2 and its bonding curve: ExceededSlippage.
  cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG: [slippage([6002])],
  dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN: [slippage([6002])],
  // Pump: TooMuchSolRequired, TooLittleSolReceived, BuySlippageBelowMinTokensOut.
  "6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P": [slippage([6002, 6003, 6042])],
  // PumpSwap: ExceededSlippage, BuySlippageBelowMinBaseAmountOut.
  pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA: [slippage([6004, 6040])],
  // Jupiter v6: SlippageToleranceExceeded.
  JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4: [slippage([6001])]
}

/** The meaning of a program's error number or logged name; undefined when it is not certain. */
export const meaningOf = (program: string, code: number, name: string | undefined): Meaning | undefined =>
  errorsOf[program]?.find(({ codes, names }) => codes.includes(code) || (name !== undefined && names.includes(name)))
    ?.means
